import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { onceClosed } from "../../shared/response-closed.ts";
import { type StoredFile, storeAway } from "./store.ts";

/** Sends files as they are read: what a client does not take is not read. */
export class FileSender {
  readonly #perAddress: number;
  readonly #total: number;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  /** Files that may be on their way at the same time: of an address, and altogether. */
  constructor({ perAddress = 128, total = 1_024 }: { perAddress?: number; total?: number } = {}) {
    this.#perAddress = perAddress;
    this.#total = total;
  }

  /**
   * Sends the file that `open` answers, with `headers` once its first bytes have come. Throws ApiError 429 when too many
   * are on their way to the caller's address, 503 when there are too many altogether or the store is away, and what `open`
   * throws.
   */
  async send(
    request: Request,
    response: Response,
    headers: Readonly<Record<string, string>>,
    open: () => Promise<StoredFile>,
  ): Promise<void> {
    this.#begin(clientOf(request.ip ?? ""), response);
    const { bytes, stream } = await open();
    if (request.method === "HEAD" || response.destroyed) stream.destroy();
    else await begun(stream);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (bytes !== undefined) response.setHeader("content-length", bytes);
    if (stream.destroyed) return void response.end();
    await pipeline(stream, response).catch((error: NodeJS.ErrnoException) => {
      if (!clientLeft.test(error.code ?? "")) throw storeAway(error);
    });
  }

  #begin(client: string, response: Response): void {
    const own = this.#byClient.get(client) ?? 0;
    const headers = { "retry-after": "5" };
    if (own >= this.#perAddress) {
      throw new ApiError("rate_limited", "Too many files are on their way to this address.", { headers });
    }
    if (this.#all >= this.#total) {
      throw new ApiError("unavailable", "Too many files are on their way at the moment.", { headers });
    }
    this.#byClient.set(client, own + 1);
    this.#all += 1;
    onceClosed(response, () => {
      const left = (this.#byClient.get(client) ?? 1) - 1;
      if (left === 0) this.#byClient.delete(client);
      else this.#byClient.set(client, left);
      this.#all -= 1;
    });
  }
}

const clientLeft = /^(ERR_STREAM_.*|ECONNRESET|EPIPE)$/;

/** Resolves when there is something to read, or the end; throws ApiError 503 when it fails first. */
async function begun(stream: StoredFile["stream"]): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([once(stream, "readable", { signal }), once(stream, "end", { signal })]);
  } catch (error) {
    stream.destroy();
    throw storeAway(error);
  } finally {
    settled.abort();
  }
}
