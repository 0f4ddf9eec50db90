import type { Colour } from "./drawing.ts";
import { type TraceOptions, traceColours, type traceModes, type traceStyles } from "./options.ts";

export interface Settings {
  readonly mode: (typeof traceModes)[number];
  readonly style: (typeof traceStyles)[number];
  /** Squared colour error one pixel of outline must save (merge.ts). */
  readonly lambda: number;
  /** Lambda may follow the picture: nothing was asked for that says how fine the drawing is to be. */
  readonly isAdaptive: boolean;
  /** Most a curve may miss a well-marked edge by, px. */
  readonly tolerance: number;
  /** Smallest area kept, px. */
  readonly areaMin: number;
  /** Steps a pixel is divided into in the file. */
  readonly grid: number;
  readonly gradients: boolean;
  readonly colors: number | null;
  readonly palette: readonly string[] | null;
  readonly removeBackground: boolean;
  readonly objects: boolean;
  readonly bytesMax: number;
  /** Most pixels traced; larger pictures are reduced first. */
  readonly pixelsMax: number;
  /** The picture is traced with so many times the contrast that it has; and what a colour of the drawing is without that. */
  readonly strengthened?: { readonly strength: number; readonly original: (colour: Colour) => Colour };
}

export const usualLambda = 1000;

const presets = {
  auto: {
    lambda: usualLambda,
    tolerance: 0.25,
    areaMin: 4,
    grid: 4,
    bytesMax: 500_000,
    pixelsMax: 2_000_000,
  },
  small: { lambda: 3000, tolerance: 0.36, areaMin: 8, grid: 4, bytesMax: 200_000, pixelsMax: 2_000_000 },
  hq: { lambda: 450, tolerance: 0.18, areaMin: 3, grid: 8, bytesMax: 1_000_000, pixelsMax: 4_000_000 },
} as const;

/** A photograph becomes a poster: coarser, plainer, and of so few bytes that an editor opens it at once. */
const poster = { lambda: 4, tolerance: 1.6, areaMin: 6, bytesMax: 120_000, pixelsMax: 600_000 } as const;

/** Fills in defaults. Throws RangeError naming the field for a value out of range; types are the caller's promise. */
export function settingsOf(options: TraceOptions): Settings {
  const preset = presets[options.preset ?? "auto"];
  const style = options.style ?? "auto";
  const simplify = inRange("simplify", options.simplify ?? 0, 0, 1);
  const { min, max } = traceColours;
  const colors = options.colors === undefined ? null : inRange("colors", Math.floor(options.colors), min, max);
  const palette = options.palette ?? null;
  if (palette && (palette.length < 1 || palette.length > max)) throw new RangeError(`palette: 1 to ${max} colours`);
  for (const colour of palette ?? []) {
    if (!/^#[0-9a-f]{6}$/i.test(colour)) throw new RangeError("palette: colours are written #rrggbb");
  }
  const plain =
    style === "photo" ? poster : { lambda: 1, tolerance: 1, areaMin: 1, bytesMax: Infinity, pixelsMax: Infinity };
  const bytesMax = inRange("bytesMax", options.bytesMax ?? preset.bytesMax, 2_000, 10_000_000);
  return {
    mode: options.mode ?? "stacked",
    style,
    lambda: preset.lambda * 40 ** simplify * plain.lambda * (style === "icon" ? 1.5 : 1),
    isAdaptive: preset === presets.auto && simplify === 0 && style === "auto" && colors === null && palette === null,
    tolerance: preset.tolerance * 4 ** simplify * plain.tolerance,
    areaMin: Math.round(preset.areaMin * 8 ** simplify) * plain.areaMin,
    grid: preset.grid,
    gradients: style !== "lineart" && style !== "logo" && colors === null && palette === null,
    colors: style === "lineart" && !palette ? (colors ?? min) : colors,
    palette,
    removeBackground: options.removeBackground ?? false,
    objects: options.layers ?? false,
    bytesMax: Math.min(bytesMax, plain.bytesMax),
    pixelsMax: Math.min(preset.pixelsMax, plain.pixelsMax),
  };
}

/** Shapes of one colour are wanted: what is blurred is drawn with sharp edges. */
export function isFlat({ gradients, style }: Settings): boolean {
  return !gradients || style === "icon";
}

function inRange(field: string, value: number, least: number, most: number): number {
  if (!(value >= least && value <= most)) throw new RangeError(`${field}: ${least} to ${most}`);
  return value;
}
