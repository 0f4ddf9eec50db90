import { expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

/** Places well inside what is opaque at which a rendering lets through what lies behind, at `times` its size. */
function gaps({ width, height, rgba }: Raster, svg: string, times: number): string[] {
  const rendering = renderRaster(svg, width * times, height * times);
  const isInside = (x: number, y: number) =>
    [-1, 0, 1].every((dy) => [-1, 0, 1].every((dx) => rgba[((y + dy) * width + x + dx) * 4 + 3] === 255));
  const found: string[] = [];
  for (let y = times; y < (height - 1) * times; y++) {
    for (let x = times; x < (width - 1) * times; x++) {
      if (!isInside(Math.floor(x / times), Math.floor(y / times))) continue;
      const alpha = rendering.rgba[(y * width * times + x) * 4 + 3]!;
      if (alpha < 225) found.push(`${x},${y}: ${alpha}`);
    }
  }
  return found;
}

/** Gradients and flat shapes across each other within an ellipse, on nothing; each seed its own. */
function medallion(seed: number): string {
  let state = seed;
  const random = (below: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
  const colour = () => `#${[0, 0, 0].map(() => random(16).toString(16)).join("")}`;
  const point = () => `${random(160)} ${random(120)}`;
  const gradients = [0, 1, 2].map(
    (i) => `<linearGradient id="g${i}" x1=".${random(10)}" x2=".${random(10)}" y2=".${random(10)}">
      <stop stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}"/></linearGradient>`,
  );
  const shapes = [0, 1].map(
    (i) =>
      `<path d="M${point()}Q${point()} ${point()}L${point()}z" fill="${i === 0 ? `url(#g${random(3)})` : colour()}"/>`,
  );
  return `<defs>${gradients.join("")}<clipPath id="c"><ellipse cx="80" cy="60" rx="${35 + random(40)}" ry="${25 + random(30)}"/></clipPath></defs>
    <g clip-path="url(#c)"><rect width="160" height="120" fill="url(#g${random(3)})"/>${shapes.join("")}</g>`;
}

test("nothing shows between areas that lie behind none of them", () => {
  let found = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const image = picture(160, 120, medallion(seed));
    const { svg } = trace(image);
    for (const times of [1, 2]) found += gaps(image, svg, times).length;
  }
  // Of 720,000 places: at the very ends of points.
  expect(found).toBeLessThan(60);
});
