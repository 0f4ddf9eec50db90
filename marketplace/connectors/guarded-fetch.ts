import type { Outbound } from "../../shared/outbound.ts";

/**
 * The outbound guard in the form of `fetch`, for libraries that bring their own protocol. Bodies stream; a redirect is
 * answered, not followed; an answer's bytes count against `bytesMax` each.
 */
export function guardedFetch(outbound: Outbound, limits: Limits) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { timeoutMs, bytesMax } = limits;
    const { method = "GET", body } = init;
    if (body !== undefined && body !== null && typeof body !== "string") throw new TypeError("only text can be sent");
    const answer = await outbound.open(String(url), {
      method: method as "GET" | "POST" | "DELETE",
      headers: Object.fromEntries(new Headers(init.headers)),
      timeoutMs,
      bytesMax,
      signal: init.signal ? AbortSignal.any([init.signal, limits.signal]) : limits.signal,
      followRedirects: false,
      ...(typeof body === "string" ? { body } : {}),
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      // The body arrives unpacked, so what it was packed in no longer holds.
      if (value !== undefined && name !== "content-encoding" && name !== "content-length")
        headers.set(name, String(value));
    }
    const bodyless = answer.status === 204 || answer.status === 304;
    if (bodyless) await answer.chunks.return(undefined);
    return new Response(bodyless ? null : streamOf(answer.chunks, method === "POST" ? limits.onBroken : () => {}), {
      status: answer.status,
      headers,
    });
  };
}

interface Limits {
  /** For each request, its whole body included. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Told when the answer to a POST breaks off, which a library waiting for the rest of it may keep to itself. */
  readonly onBroken: (error: unknown) => void;
}

function streamOf(chunks: AsyncGenerator<Buffer>, onBroken: Limits["onBroken"]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next().catch((error) => {
        onBroken(error);
        throw error;
      });
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: async () => {
      await chunks.return(undefined);
    },
  });
}
