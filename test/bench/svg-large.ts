import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { engineFlags } from "../../marketplace/tracer/pool/worker-pool.ts";
import { noise } from "../marketplace/tracer/pictures.ts";
import { compiled } from "../support/compiled.ts";
import { drawnImages, readImages, texture } from "./svg-images.ts";

const run = promisify(execFile);
const job = compiled(new URL("./svg/one-job.ts", import.meta.url));
const [width, height] = [2000, 1000];

/**
 * Whole jobs at two megapixels, decoding, score and PNG counted in, each cold in a process of its own: time (wanted: at
 * most 5 s, noise too) and the most memory the process held (wanted: at most 400 MB, 80 of them before
 * it has seen a picture). `--images=DIR` adds the pictures of a folder, enlarged to the same size.
 */
export async function benchSvgLarge(): Promise<void> {
  const folder = process.argv.find((word) => word.startsWith("--images="))?.slice("--images=".length);
  const images = [
    { name: "noise", raster: noise(width, height) },
    { name: "photograph", raster: texture(width, height) },
    ...(folder ? await readImages(folder) : drawnImages()),
  ];
  const directory = await mkdtemp(join(tmpdir(), "bench-svg-"));
  process.stdout.write("\nWhole jobs at two megapixels, each in a process of its own\n");
  let [slowest, largest] = [0, 0];
  for (const { name, raster } of images) {
    const file = join(directory, "picture.jpg");
    await sharp(raster.rgba, { raw: { width: raster.width, height: raster.height, channels: 4 } })
      .resize(width, height, { fit: "fill" })
      .flatten({ background: "#fff" })
      .jpeg({ quality: 92 })
      .toFile(file);
    const { stdout } = await run(process.execPath, [...engineFlags, job, file]);
    const { ms, peakMb, svgBytes, score } = JSON.parse(stdout) as Record<
      "ms" | "peakMb" | "svgBytes" | "score",
      number
    >;
    slowest = Math.max(slowest, ms);
    largest = Math.max(largest, peakMb);
    process.stdout.write(
      `${name.padEnd(24)} ${ms.toFixed(0).padStart(5)} ms ${peakMb.toFixed(0).padStart(4)} MB ${(svgBytes / 1000).toFixed(0).padStart(4)} kB score ${score.toFixed(3)}\n`,
    );
  }
  process.stdout.write(`slowest ${slowest.toFixed(0)} ms, most memory ${largest.toFixed(0)} MB\n`);
  await rm(directory, { recursive: true, force: true });
}
