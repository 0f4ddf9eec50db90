import { setImmediate as breathe } from "node:timers/promises";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";
import { JsonScan } from "../../shared/json-scan.ts";

/** What an honest answer stays below; parsing costs by these and not by the byte. */
const answerLimits = { depthMax: 100, tokensMax: 300_000 };
const sliceBytes = 262_144;

/**
 * Parses JSON from a server that is not trusted. Text that would take long to parse is refused, and scanning it lets other
 * requests have their turn. Throws for such text as for what is no JSON.
 */
export async function parseJson(text: Buffer | string): Promise<unknown> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const scan = new JsonScan(answerLimits);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await breathe();
    scan.see(bytes.subarray(at, at + sliceBytes));
  }
  if (bytes.length > sliceBytes) await ownEventLoopTurn();
  return JSON.parse(bytes.toString("utf8"));
}
