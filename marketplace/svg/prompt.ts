import type { TraceOptions } from "../tracer/options.ts";
import type { GenerateRequest } from "./request.ts";

/** The prompt for the image model, worded so that its picture traces well. */
export function shapePrompt({ prompt, style, palette, background, seed }: GenerateRequest): string {
  const paper = background === undefined || background === "transparent" ? "plain white" : `plain ${background}`;
  return [
    prompt.trim(),
    looks[style],
    `On a ${style === "pattern" ? "" : `${paper} `}background, flat colours, clean edges, no text unless asked for, no border.`,
    palette && `Use only these colours: ${palette.join(", ")}.`,
    seed !== undefined && `Variation ${seed}.`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** Pixels as OpenAI-compatible endpoints take them. */
export function sizeOf({ aspect, hd }: Pick<GenerateRequest, "aspect" | "hd">): string {
  return hd ? hdSizes[aspect] : sizes[aspect];
}

/** How the drawing is traced. */
export function traceOptionsOf(request: GenerateRequest): TraceOptions {
  const { style, colors, palette, background, hd, layers } = request;
  return {
    style: style === "illustration" || style === "pattern" ? "auto" : style,
    preset: hd ? "hq" : "auto",
    removeBackground: background === "transparent",
    layers,
    ...(colors === undefined ? {} : { colors }),
    ...(palette === undefined ? {} : { palette }),
  };
}

const looks: Readonly<Record<GenerateRequest["style"], string>> = {
  icon: "A single simple icon: bold shapes, few colours, centred, generous margin.",
  logo: "A logo mark: few flat shapes, two to four colours, balanced, centred.",
  illustration: "A vector illustration: clear shapes, a limited palette, even lighting.",
  pattern: "A seamless repeating pattern of simple shapes that fills the whole picture.",
  pixel: "Pixel art: a coarse visible grid, hard edges, a small palette.",
};

const sizes = { square: "1024x1024", landscape: "1536x1024", portrait: "1024x1536", wide: "1792x1024" } as const;
const hdSizes = { square: "1536x1536", landscape: "1792x1024", portrait: "1024x1792", wide: "2048x1152" } as const;
