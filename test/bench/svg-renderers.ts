import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import type { Raster } from "../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../marketplace/tracer/output/score.ts";
import { renderRaster } from "../../marketplace/tracer/pool/render.ts";
import { trace } from "../../marketplace/tracer/trace.ts";
import { drawnImages, readImages } from "./svg-images.ts";

const run = promisify(execFile);
const browsers = ["chromium", "chromium-browser", "google-chrome"];

/**
 * Whether our SVG is the same picture everywhere: each trace as librsvg and, where one is installed, Chromium draw it,
 * beside resvg's drawing, on white. Only anti-aliasing may differ. `--images=DIR` takes a folder instead of the drawn
 * pictures.
 */
export async function benchSvgRenderers(): Promise<void> {
  // The decoder lets sharp read three formats only; here it is librsvg's hand that is wanted.
  sharp.unblock({ operation: ["VipsForeignLoadSvg"] });
  const folder = process.argv.find((word) => word.startsWith("--images="))?.slice("--images=".length);
  const images = folder ? await readImages(folder) : drawnImages();
  const browser = await findBrowser();
  const directory = await mkdtemp(join(tmpdir(), "bench-svg-"));
  const others: Record<string, (svg: string, width: number, height: number) => Promise<Raster>> = {
    librsvg: (svg) => onWhite(Buffer.from(svg)),
    ...(browser && { Chromium: (svg, width, height) => screenshot(browser, directory, svg, width, height) }),
  };
  const figures: Record<string, Array<{ ssim: number; psnr: number }>> = {};
  process.stdout.write("\nThe same SVG in other renderers, beside resvg: SSIM and dB\n");
  for (const { name, raster } of images) {
    const { width, height } = raster;
    const { svg } = trace(raster);
    const ours = white(renderRaster(svg, width, height));
    const cells: string[] = [];
    for (const [other, draw] of Object.entries(others)) {
      const { ssim, psnr } = likeness(ours, await draw(svg, width, height));
      figures[other] = [...(figures[other] ?? []), { ssim, psnr }];
      cells.push(`${other} ${ssim.toFixed(4)} ${psnr.toFixed(1)}`);
    }
    process.stdout.write(`${name.padEnd(24)} ${cells.join("   ")}\n`);
  }
  for (const [other, of] of Object.entries(figures)) {
    const mean = (pick: (figure: { ssim: number; psnr: number }) => number) =>
      of.reduce((sum, figure) => sum + pick(figure), 0) / of.length;
    const least = Math.min(...of.map(({ ssim }) => ssim));
    process.stdout.write(
      `${other} to resvg: SSIM ${mean(({ ssim }) => ssim).toFixed(4)} (least ${least.toFixed(4)}), ${mean(({ psnr }) => psnr).toFixed(1)} dB\n`,
    );
  }
  if (!browser) process.stdout.write(`Chromium: none of ${browsers.join(", ")} is installed here\n`);
  await rm(directory, { recursive: true, force: true });
}

async function findBrowser(): Promise<string | undefined> {
  for (const browser of browsers) {
    if (await run(browser, ["--version"]).catch(() => undefined)) return browser;
  }
  return undefined;
}

async function screenshot(
  browser: string,
  directory: string,
  svg: string,
  width: number,
  height: number,
): Promise<Raster> {
  const [from, to] = [join(directory, "drawing.svg"), join(directory, "drawing.png")];
  await writeFile(from, svg);
  await run(
    browser,
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"],
      ...[
        `--user-data-dir=${join(directory, "profile")}`,
        `--window-size=${Math.max(width, 800)},${Math.max(height, 600)}`,
        `--screenshot=${to}`,
      ],
      `file://${from}`,
    ],
    { timeout: 60_000 },
  );
  // A window cannot be as small as a small picture, which is then in its corner.
  return onWhite(
    await sharp(await readFile(to))
      .extract({ left: 0, top: 0, width, height })
      .png()
      .toBuffer(),
  );
}

async function onWhite(bytes: Buffer): Promise<Raster> {
  const { data, info } = await sharp(bytes)
    .flatten({ background: "#fff" })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgba: new Uint8Array(data) };
}

function white({ width, height, rgba }: Raster): Raster {
  const out = rgba.slice();
  for (let i = 0; i < out.length; i += 4) {
    const alpha = out[i + 3]! / 255;
    for (let c = i; c < i + 3; c++) out[c] = Math.round(out[c]! * alpha + 255 * (1 - alpha));
    out[i + 3] = 255;
  }
  return { width, height, rgba: out };
}
