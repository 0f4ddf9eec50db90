import { once } from "node:events";
import { Agent, fetch } from "undici";
import type { Bystander, Target } from "./attacks.ts";
import { elapse } from "./elapse.ts";

/** Asks as a visitor who has nothing to do with an attack, until its input ends, and prints how it went. */
const [wanted = "", said = ""] = process.argv.slice(2);
const { url, soldAgent } = JSON.parse(said) as Target;
/** Not the attacker's address: who has that waits behind all that the attacker asked. */
const dispatcher = new Agent({ connect: { localAddress: "127.0.0.2" } });
const tookMs: number[] = [];
let failed = 0;
let over = false;
once(process.stdin.resume(), "end").then(() => {
  over = true;
});
while (!over) {
  const begunAt = performance.now();
  const answers = await Promise.all([ask(`${url}/health`), ask(`${url}/api/agent/${soldAgent}`, { text: "hi" })]);
  tookMs.push(performance.now() - begunAt);
  if (answers.join() !== wanted) failed += 1;
  await elapse(15, "how long a visitor waits between two questions");
}
process.stdout.write(JSON.stringify({ tookMs: tookMs.toSorted((a, b) => a - b), failed } satisfies Bystander));

async function ask(url: string, body?: object): Promise<number> {
  const post = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(url, { ...post, dispatcher, signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status ?? 0;
}
