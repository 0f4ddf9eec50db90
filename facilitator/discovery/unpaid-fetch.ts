import { request } from "undici";
import type { Outbound } from "../../shared/outbound.ts";
import type { UnpaidAnswer, UnpaidAsk, UnpaidFetch } from "./ownership.ts";
import { isLocalhost } from "./validate.ts";

/** The one way from the daemon to a URL that a caller named: through the outbound guard, and following no redirect. */
export function createUnpaidFetch(outbound: Outbound, { allowLocalhost }: { allowLocalhost: boolean }): UnpaidFetch {
  return (url, ask) => {
    if (allowLocalhost && isLocalhost(new URL(url))) return fetchDirectly(url, ask);
    const headers = { "user-agent": "x402-facilitator", ...ask.headers };
    return outbound.fetch(url, { ...ask, headers, followRedirects: false });
  };
}

/** Development only. undici's request follows no redirect. */
async function fetchDirectly(
  url: string,
  { method, headers = {}, body, timeoutMs, bytesMax, signal }: UnpaidAsk,
): Promise<UnpaidAnswer> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await request(url, { method, headers, body: body ?? null, signal: either });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}
