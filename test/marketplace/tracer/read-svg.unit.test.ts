import { describe, expect, test } from "vitest";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { writePdf } from "../../../marketplace/tracer/pool/write-pdf.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { landscape, lettering, logo, mosaic, noise, picture } from "./pictures.ts";

const glow = `<defs><radialGradient id="a"><stop stop-color="#fd6"/><stop offset="1" stop-color="#e53"/></radialGradient></defs>
  <rect width="240" height="160" fill="#123"/><ellipse cx="120" cy="80" rx="100" ry="55" fill="url(#a)"/>`;
const seeThrough = `<rect x="20" y="20" width="90" height="60" fill="#06c" fill-opacity=".4"/><circle cx="80" cy="60" r="30" fill="#c03"/>`;
const checkers = `<g shape-rendering="crispEdges"><rect width="160" height="160" fill="#fff"/>
  <path d="M0 0h20v20h-20zM40 40h20v40h-20zM100 20h40v20h-40z" fill="#036"/></g>`;

const pictures = {
  logo: picture(400, 300, logo),
  landscape: picture(300, 200, landscape),
  mosaic: picture(300, 300, mosaic),
  lettering: picture(230, 100, lettering("#123", "#fff")),
  glow: picture(240, 160, glow),
  "see-through": picture(120, 100, seeThrough),
  checkers: picture(160, 160, checkers),
  noise: noise(48, 40),
};

describe("an SVG of the tracer, read again as a drawing", () => {
  test.each(Object.entries(pictures))("%s: written once more, it is the same text", (_name, image) => {
    for (const options of [{}, { layers: true }, { mode: "cutout" }, { colors: 6, simplify: 0.4 }] as const) {
      const { svg } = trace(image, options);
      expect(writeSvg(readSvg(svg))).toBe(svg);
    }
  });

  test("has the groups, and the PDF, of what was traced", () => {
    const { svg, layers, width, height } = trace(pictures.glow, { layers: true });
    const drawing = readSvg(svg);
    expect(drawing.groups.map(({ id }) => id)).toEqual(layers.map(({ id }) => id));
    expect([drawing.width, drawing.height]).toEqual([width, height]);
    expect(Buffer.from(writePdf(drawing)).toString("latin1")).toMatch(
      /^%PDF-1\.4[\s\S]*\/ShadingType 3[\s\S]*%%EOF\n$/,
    );
  });

  test("without one of its groups, it shows all but that", () => {
    const drawing = readSvg(trace(pictures.logo, { layers: true }).svg);
    const less = { ...drawing, groups: drawing.groups.slice(0, -1) };
    const [all, rest] = [drawing, less].map((shown) => renderRaster(writeSvg(shown), 400, 300).rgba);
    expect(Buffer.compare(all!, rest!)).not.toBe(0);
  });

  test.each([
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><script>alert(1)</script></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><path onload="alert(1)" d="M0 0z"/></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><path fill="url(https://evil.example)" d="M0 0z"/></svg>`,
    "no markup",
  ])("is refused when it is not the tracer's: %s", (markup) => {
    expect(() => readSvg(markup)).toThrow();
  });
});
