import { describe, expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import type { Trace } from "../../../marketplace/tracer/output/finish.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { landscape, logo, mosaic, noise, picture } from "./pictures.ts";

/** Everything touches: roof on wall, door and window in it, all on the lawn. */
const house = `<rect width="400" height="320" fill="#fff"/><rect x="20" y="260" width="360" height="40" fill="#3a3"/>
  <rect x="90" y="130" width="220" height="140" fill="#eda"/><path d="M60 135L200 30L340 135z" fill="#b22"/>
  <rect x="180" y="180" width="50" height="88" fill="#642"/><circle cx="220" cy="226" r="5" fill="#fd0"/>
  <rect x="110" y="160" width="50" height="50" fill="#8cf"/>`;

const pictures = {
  house: picture(400, 320, house),
  logo: picture(400, 300, logo),
  landscape: picture(600, 400, landscape),
  mosaic: picture(300, 300, mosaic),
  "star on a plate": picture(
    300,
    300,
    `<rect width="300" height="300" fill="#fff"/><circle cx="150" cy="150" r="140" fill="#e0a82e"/>
      <path d="M150 60L174 120L238 122L188 162L206 224L150 188L94 224L112 162L62 122L126 120z" fill="#fff7dc"/>`,
  ),
  "glass, no ground": picture(
    200,
    200,
    `<circle cx="80" cy="90" r="60" fill="#36c" fill-opacity=".6"/><circle cx="125" cy="115" r="60" fill="#e33"/>`,
  ),
};

const traced = new Map<Raster, Trace>();

/** Each picture's layers, traced once. */
function layersOf(image: Raster): Trace {
  const result = traced.get(image) ?? trace(image, { layers: true });
  traced.set(image, result);
  return result;
}

const groups = (svg: string) => [...svg.matchAll(/<g id="([^"]+)">(.*?)<\/g>/g)].map(([, id, body]) => ({ id, body }));

/** The drawing without some of its groups. */
const without = (svg: string, ...ids: string[]) =>
  svg.replace(/<g id="([^"]+)">.*?<\/g>/g, (group, id) => (ids.includes(id) ? "" : group));

function at({ width, rgba }: Raster, x: number, y: number): number[] {
  return [...rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

describe("object layers", () => {
  test.each(Object.entries(pictures))("%s: groups with names of their own hold all that is drawn", (_name, image) => {
    const { svg, layers, paths } = layersOf(image);
    checkSvg(svg);
    const found = groups(svg);
    expect(found.map(({ id }) => id)).toEqual(layers.map(({ id }) => id));
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    for (const { id } of found) expect(id).toMatch(/^(background|details|(object|circle|rectangle|triangle)-\d+)$/);
    const inGroups = found.map(
      ({ body }) => body!.match(/<(path|circle|ellipse|rect|line|polyline|polygon)\b/g)!.length,
    );
    expect(inGroups.reduce((sum, n) => sum + n, 0)).toBe(paths);
  });

  test.each(Object.entries(pictures))("%s: laid on each other they are the picture", (_name, image) => {
    const [flat, layered] = [trace(image), layersOf(image)];
    const show = ({ svg }: { svg: string }) => renderRaster(svg, image.width, image.height);
    expect(likeness(show(flat), show(layered)).score).toBeGreaterThan(0.9);
    expect(scoreTrace(image, layered).score).toBeGreaterThan(scoreTrace(image, flat).score - 0.01);
  });

  test("things that touch are objects of their own, and what is marked on one is of it", () => {
    const image = pictures.house;
    const { svg, layers } = layersOf(image);
    const places = {
      roof: [200, 90],
      wall: [120, 240],
      door: [195, 200],
      window: [135, 185],
      lawn: [50, 280],
    } as const;
    const ids = Object.values(places).map(([x, y]) =>
      layers
        .map(({ id }) => id)
        .filter((id) => {
          const [before, after] = [svg, without(svg, id)].map((text) => at(renderRaster(text, 400, 320), x, y));
          return String(before) !== String(after);
        }),
    );
    for (const id of ids) expect(id).toHaveLength(1);
    expect(new Set(ids.flat()).size).toBe(3);
    expect(ids[2]).toEqual(ids[1]);
    expect(ids[3]).toEqual(ids[1]);
  });

  test("what an object covers is whole beneath it", () => {
    const { svg } = layersOf(pictures["star on a plate"]);
    const bare = renderRaster(without(svg, "object-1"), 300, 300);
    for (const [x, y] of [
      [150, 100],
      [150, 160],
      [120, 190],
    ] as const) {
      expect(at(renderRaster(svg, 300, 300), x, y)).toEqual([0xff, 0xf7, 0xdc, 255]);
      expect(at(bare, x, y)).toEqual([0xe0, 0xa8, 0x2e, 255]);
    }
  });

  test("a picture without a ground is divided into a few regions, each of some size", () => {
    const { layers } = trace(noise(160, 120), { layers: true });
    const objects = layers.filter(({ id }) => id !== "background");
    expect(objects.length).toBeGreaterThan(1);
    expect(objects.length).toBeLessThanOrEqual(12);
  });

  test("what a band in front divides is one, and so is a figure in two shades", () => {
    const image = picture(
      480,
      300,
      `<rect width="480" height="300" fill="#fff"/><path d="M40 40H180V130C180 200 150 240 110 260C70 240 40 200 40 130z" fill="#1f3c88"/>
       <rect x="20" y="120" width="180" height="40" fill="#f2c14e"/>
       <ellipse cx="270" cy="210" rx="46" ry="60" fill="#7a4e2d"/><circle cx="270" cy="120" r="50" fill="#8b5a36"/>`,
    );
    const { svg } = trace(image, { layers: true });
    const seen = renderRaster(svg, 480, 300);
    const groupAt = (x: number, y: number) =>
      groups(svg).findIndex(
        ({ id }) => String(at(renderRaster(without(svg, id!), 480, 300), x, y)) !== String(at(seen, x, y)),
      );
    expect(groupAt(110, 80)).toBe(groupAt(110, 200));
    expect(groupAt(110, 140)).not.toBe(groupAt(110, 80));
    expect(groupAt(270, 110)).toBe(groupAt(270, 230));
    expect(groupAt(110, 80)).not.toBe(groupAt(270, 110));
  });

  test("what stands apart is not divided", () => {
    const { layers } = layersOf(pictures.logo);
    expect(layers.map(({ id }) => id)).toEqual(["background", "circle-1", "triangle-1", "rectangle-1"]);
  });
});
