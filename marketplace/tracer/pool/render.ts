import { Resvg } from "@resvg/resvg-js";
import { isOpaque, type Raster, reduce } from "../image/raster.ts";
import type { Trace } from "../output/finish.ts";
import { type Likeness, likeness } from "../output/score.ts";

/** The score of a trace, and how to have it as PNG at its own size; drawn once where both have one size. */
export function renderAndScore(source: Raster, result: Scored): { png: () => Uint8Array; likeness: Likeness } {
  const { width } = source;
  const scoredAt = scoredWidth(source);
  const rendered = render(result.svg, scoredAt);
  const png = () => (scoredAt === width ? rendered : render(result.svg, width)).asPng();
  return { png, likeness: likenessOf(source, result, rendered) };
}

/** The score of a trace: its bytes, rendered at the size of the decoded source (at most 2 megapixels), against it. */
export function scoreTrace(source: Raster, result: Scored): Likeness {
  return likenessOf(source, result, render(result.svg, scoredWidth(source)));
}

function likenessOf(source: Raster, { removed }: Scored, rendered: RenderedImage): Likeness {
  const width = Math.min(rendered.width, source.width);
  const height = Math.min(rendered.height, source.height);
  const isReduced = width < source.width || height < source.height;
  return likeness(isReduced ? reduce(source, width, height) : source, asRaster(rendered, width, height), removed);
}

/**
 * Where the picture is too large, the width at which its height, which the renderer rounds up, is a whole number most nearly:
 * all else would move what is compared by a part of a pixel.
 */
function scoredWidth({ width, height }: Raster): number {
  const most = Math.floor(Math.sqrt((scorePixelsMax * width) / height));
  if (most >= width) return width;
  let best = Math.max(1, most);
  let least = Number.POSITIVE_INFINITY;
  for (let w = best; w > Math.max(0, most - widthsTried); w--) {
    const over = (width - ((w * height) % width)) % width;
    if (over >= least) continue;
    least = over;
    best = w;
  }
  return best;
}

const widthsTried = 64;

type Scored = Pick<Trace, "svg" | "removed">;
type RenderedImage = ReturnType<typeof render>;

const scorePixelsMax = 2_000_000;

/** Straight RGBA of an SVG at the given size. */
export function renderRaster(svg: string, width: number, height: number): Raster {
  return asRaster(render(svg, width), width, height);
}

function asRaster(drawn: RenderedImage, width: number, height: number): Raster {
  const { pixels, width: w, height: h } = drawn;
  // Opaque colour is straight already.
  const whole = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.length);
  if (w === width && h === height && isOpaque(whole)) return { width, height, rgba: whole };
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < Math.min(h, height); y++) {
    for (let x = 0; x < Math.min(w, width); x++) {
      const from = (y * w + x) * 4;
      const to = (y * width + x) * 4;
      const alpha = pixels[from + 3];
      if (alpha === 0) continue;
      const scale = 255 / alpha;
      for (let c = 0; c < 3; c++) rgba[to + c] = Math.min(255, Math.round(pixels[from + c] * scale));
      rgba[to + 3] = alpha;
    }
  }
  return { width, height, rgba };
}

/** No fonts, no files, no network. */
function render(svg: string, width: number) {
  return new Resvg(svg, { fitTo: { mode: "width", value: width }, font: { loadSystemFonts: false } }).render();
}
