import { describe, expect, test } from "vitest";
import { redraw, type Wish } from "../../../marketplace/tracer/pool/redraw.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { BadMarkupError } from "../../../marketplace/tracer/sanitize/markup.ts";
import { processorMs } from "../../support/processor-time.ts";

const wish: Wish = { width: 400, height: 400, bytesMax: 500_000, objects: false };
const svg = (body: string, viewBox = "0 0 100 100") =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${body}</svg>`;

describe("what a model writes is drawn as it was meant", () => {
  test.each([
    ["shapes", `<rect width="60" height="40" rx="8" fill="#c22"/><circle cx="70" cy="60" r="20" fill="#08f"/>`],
    [
      "every path command",
      `<path fill="#264" d="M5 5h30v10l10 5H50V40c0 10-5 20-15 20s-10 5-15 0q-5-5 0-10t-8-4a9 5 20 01-4-20z"/>`,
    ],
    ["an even-odd hole", `<path fill="#0a0" fill-rule="evenodd" d="M10 10h60v60h-60zM25 25h30v30h-30z"/>`],
    [
      "overlaps that turn both ways",
      `<path fill="#00c" d="M10 10h50v50h-50z"/><path fill="#00c" d="M30 30v50h50v-50z"/>`,
    ],
    [
      "strokes",
      `<g fill="none" stroke="#222" stroke-width="4"><path d="M10 80C20 10 40 10 50 40S80 70 90 10" stroke-linecap="round"/><circle cx="30" cy="70" r="12"/></g>`,
    ],
    [
      "transforms",
      `<g transform="translate(50 50) rotate(30)"><rect x="-20" y="-10" width="40" height="20" transform="skewX(20) scale(1.2 .8)"/></g>`,
    ],
    [
      "gradients",
      `<defs><linearGradient id="a" x2="1" y2="1"><stop offset="10%" stop-color="#f80"/><stop offset="1" stop-color="#802"/></linearGradient><radialGradient id="b"><stop stop-color="#fff"/><stop offset="1" stop-color="#08f" stop-opacity=".2"/></radialGradient></defs><rect x="5" y="5" width="80" height="30" transform="skewX(10)" fill="url(#a)"/><circle cx="60" cy="65" r="25" fill="url(#b)"/>`,
    ],
    [
      "percentages",
      `<rect width="100%" height="100%" fill="#00f"/><circle cx="50%" cy="50%" r="20%" fill="#fc0"/><path d="M10 10H90" stroke="#0a0" stroke-width="4%"/>`,
    ],
    [
      "gradients by percentages of the whole",
      `<defs><linearGradient id="a" gradientUnits="userSpaceOnUse" x1="20%" x2="80%"><stop stop-color="#f80"/><stop offset="1" stop-color="#802"/></linearGradient><radialGradient id="b" gradientUnits="userSpaceOnUse"><stop stop-color="#fff"/><stop offset="1" stop-color="#08f"/></radialGradient></defs><rect width="100" height="40" fill="url(#a)"/><rect y="40" width="100" height="60" fill="url(#b)"/>`,
    ],
    [
      "a gradient of no size, and one on a level line",
      `<defs><radialGradient id="a" r="0"><stop stop-color="#fff"/><stop offset="1" stop-color="#08f"/></radialGradient></defs><rect x="10" y="10" width="60" height="50" fill="url(#a)"/><path d="M10 80H90" stroke="url(#a)" stroke-width="6"/>`,
    ],
    [
      "opacity",
      `<rect width="70" height="70" fill="#06c"/><g opacity=".5"><circle cx="60" cy="60" r="30" fill="#fd0" fill-opacity=".8"/></g>`,
    ],
  ])("markup with %s is redrawn and looks the same", (_name, body) => {
    const { result, likeness } = redraw(svg(body), wish);
    expect(likeness.score).toBeGreaterThan(0.95);
    expect(result).toMatchObject({ width: 400, height: 400, bytes: Buffer.byteLength(result.svg) });
  });

  test("whatever stands around it, and comments, are left out", () => {
    const { result } = redraw(
      `Here:\n\`\`\`svg\n${svg(`<!-- <script> --><circle cx="9" cy="9" r="5"/>`)}\n\`\`\`\nEnjoy!`,
      wish,
    );
    expect(result.svg).not.toMatch(/script|Enjoy/);
  });

  test("groups are layers, or objects where those were asked for", () => {
    const body = `<rect width="100" height="100" fill="#eee"/><g><circle cx="30" cy="30" r="9"/></g><g><circle cx="70" cy="70" r="9"/></g>`;
    expect(redraw(svg(body), wish).result.layers.map(({ id }) => id)).toEqual(["layer-1", "layer-2", "layer-3"]);
    expect(redraw(svg(body), { ...wish, objects: true }).result.layers[0]!.id).toBe("object-1");
  });

  test("what cannot be drawn as it was meant is refused, whatever colours were asked for", () => {
    const squeezed = svg(
      `<defs><radialGradient id="a" gradientUnits="userSpaceOnUse" cx="50" cy="50" r="40" gradientTransform="translate(50 50) scale(3 .1) translate(-50 -50)"><stop stop-color="#fff"/><stop offset="1"/></radialGradient></defs><rect width="100" height="100" fill="url(#a)"/>`,
    );
    for (const more of [{}, { palette: ["#000000", "#ffffff"] }, { colors: 2 }]) {
      expect(() => redraw(squeezed, { ...wish, ...more })).toThrow(BadMarkupError);
    }
  });

  test("background, palette and count of colours are kept to, whatever the model chose", () => {
    const body = `<circle cx="30" cy="30" r="20" fill="#d11"/><circle cx="70" cy="30" r="20" fill="#1d1"/><circle cx="70" cy="70" r="20" fill="#11d"/>`;
    const { rgba } = renderRaster(redraw(svg(body), { ...wish, background: "#ffeedd" }).result.svg, 400, 400);
    expect([...rgba.subarray(0, 4)]).toEqual([0xff, 0xee, 0xdd, 255]);
    const palette = ["#000000", "#ff0000"];
    for (const { fill } of redraw(svg(body), { ...wish, palette }).result.layers)
      for (const colour of fill) expect(["#000", "#f00"]).toContain(colour);
    expect(redraw(svg(body), { ...wish, colors: 2 }).result.colors).toBe(2);
  });
});

describe("what is not on the list is refused", () => {
  test.each([
    ["no SVG at all", "I cannot draw."],
    ["half an SVG", `<svg viewBox="0 0 9 9"><rect width="9" height="9"/>`],
    ["a script", svg(`<script>alert(1)</script>`)],
    ["an event handler", svg(`<rect width="9" height="9" onload="x()"/>`)],
    ["a link", svg(`<a href="https://example.com"><rect width="9" height="9"/></a>`)],
    ["an image", svg(`<image href="https://example.com/a.png"/>`)],
    ["a foreign object", svg(`<foreignObject><p/></foreignObject>`)],
    ["a reuse", svg(`<use href="#a"/>`)],
    ["a style", svg(`<rect style="fill:url(https://example.com)" width="9" height="9"/>`)],
    ["a paint from elsewhere", svg(`<rect fill="url(https://example.com/#a)" width="9" height="9"/>`)],
    ["an unknown gradient", svg(`<rect fill="url(#none)" width="9" height="9"/>`)],
    ["an entity", `<!DOCTYPE svg [<!ENTITY a "b">]>${svg("&a;")}`],
    ["text", svg("<text>hello</text>")],
    ["loose text", svg("hello")],
    ["an animation", svg(`<rect width="9" height="9"><animate/></rect>`)],
    ["nothing to see", svg(`<rect width="0" height="9"/>`)],
    ["a blank page", svg(`<rect width="100" height="100" fill="#fff"/>`)],
    ["a number out of bounds", svg(`<rect width="1e9" height="9"/>`)],
    ["numbers that are none", svg(`<path d="M0 0L5 Infinity"/>`)],
    ["a path that begins nowhere", svg(`<path d="L5 5z"/>`)],
    ["too many elements", svg(`<rect width="9" height="9"/>`.repeat(2_001))],
    ["nesting without end", svg(`${"<g>".repeat(20)}${"</g>".repeat(20)}`)],
    ["an endless path", svg(`<path d="M0 0${"h1".repeat(6_000)}z"/>`)],
    ["too many bytes", svg(`<rect width="9" height="9"/>${" ".repeat(200_000)}`)],
    ["no canvas", `<svg><rect width="9" height="9"/></svg>`],
  ])("markup with %s is refused", (_name, answer) => {
    expect(() => redraw(answer, wish)).toThrow(BadMarkupError);
  });

  test("in no time, however it is made", () => {
    for (const hostile of [
      "<svg ".repeat(30_000),
      `<svg${" a".repeat(60_000)}></svg>`,
      `<svg><!--${"-".repeat(150_000)}</svg>`,
    ]) {
      const took = processorMs(() => expect(() => redraw(hostile, wish)).toThrow(BadMarkupError));
      expect(took).toBeLessThan(2_000);
    }
  });
});
