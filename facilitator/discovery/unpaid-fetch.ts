import { request } from "undici";
import type { UnpaidAnswer, UnpaidAsk, UnpaidFetch } from "./ownership.ts";
import { isLocalhost } from "./validate.ts";

/** The one way from the daemon to a URL that a stranger named. */
export function createUnpaidFetch({ allowLocalhost }: { allowLocalhost: boolean }): UnpaidFetch {
  return async (url, ask) =>
    allowLocalhost && isLocalhost(new URL(url)) ? fetchDirectly(url, ask) : fetchGuarded(url, ask);
}

/** Until the outbound guard is wired here, nothing but an allowed localhost is ever asked, and so nothing else is listed. */
async function fetchGuarded(_url: string, _ask: UnpaidAsk): Promise<UnpaidAnswer> {
  throw new Error("there is no guarded way out");
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
