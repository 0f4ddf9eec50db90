import { readFile } from "node:fs/promises";
import { vectorizeJob } from "../../../marketplace/tracer/pool/job.ts";

/** One job as a worker does it, in a process of its own: what it took, as JSON. */
const bytes = await readFile(process.argv[2]!);
const startedAt = performance.now();
const outcome = await vectorizeJob({ bytes, options: {}, files: ["png"] });
const ms = performance.now() - startedAt;
if (!("done" in outcome)) throw new Error(outcome.message);
const { bytes: svgBytes, score } = outcome.done;
// maxRSS counts kilobytes.
process.stdout.write(JSON.stringify({ ms, svgBytes, score, peakMb: process.resourceUsage().maxRSS / 1024 }));
