import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import { SendingLimits } from "../../shared/sending-limits.ts";
import { type StoredFile, storeAway } from "./store.ts";

/** Sends files as they are read: what a client does not take is not read. */
export class FileSender {
  readonly #limits: SendingLimits;

  /**
   * Files that may be on their way at the same time: of an address, and altogether. A browser asks for six of a page's pictures at a
   * time and shows none that is refused; forty of an office come from one address. Each holds some 64 KB of a file: 128 MB altogether.
   */
  constructor({ perAddress = 256, total = 2_048 }: { perAddress?: number; total?: number } = {}) {
    this.#limits = new SendingLimits("files", { perAddress, total });
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
    this.#limits.begin(request, response);
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
