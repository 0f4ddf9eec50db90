export const traceModes = ["stacked", "cutout"] as const;
export const traceStyles = ["auto", "logo", "icon", "lineart", "photo", "pixel"] as const;
export const tracePresets = ["auto", "small", "hq"] as const;
/** What can be made beside the SVG. */
export const vectorFiles = ["png", "pdf"] as const;
export type VectorFile = (typeof vectorFiles)[number];
/** How many colours may be asked for. */
export const traceColours = { min: 2, max: 256 } as const;

/** The longest side of a picture that a page traces by itself (preview.ts), px. */
export const previewSideMax = 256;

/** What a caller may ask of a trace. Everything has a default. */
export interface TraceOptions {
  /** stacked: shapes lie over each other, no gaps; cutout: no two overlap, but for a hair along shared edges. */
  readonly mode?: (typeof traceModes)[number];
  readonly style?: (typeof traceStyles)[number];
  readonly preset?: (typeof tracePresets)[number];
  /** Most colours (`traceColours`); areas are then of one colour each, and as see-through as they were. */
  readonly colors?: number;
  /** 0 (default) keeps all detail the preset keeps, 1 keeps the least. */
  readonly simplify?: number;
  /** `#rrggbb` colours, as many at most; only these are used, one to an area, in whatever opacity. */
  readonly palette?: readonly string[];
  readonly removeBackground?: boolean;
  /** One group per object instead of one per depth. */
  readonly layers?: boolean;
  /** Most bytes of SVG, instead of the preset's. */
  readonly bytesMax?: number;
}
