import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request, Response } from "express";
import { type Encoding, encodingOf } from "./content-encoding.ts";
import { isTagged, tagOf } from "./etag.ts";

/** A text that is the same for many callers: named by its ETag, and compressed for each encoding, once. */
export class KeptText {
  readonly #bytes: Buffer;
  readonly #tag: string;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    this.#tag = tagOf(text);
  }

  /** Answers with it, or with 304 where the caller has it already. */
  async send(request: Request, response: Response, type: string): Promise<void> {
    response.vary("accept-encoding");
    if (isTagged(request, response, this.#tag)) return void response.status(304).end();
    const encoding = encodingOf(request);
    const bytes = encoding ? await this.#in(encoding) : this.#bytes;
    if (encoding) response.setHeader("content-encoding", encoding);
    response.type(`${type}; charset=utf-8`).send(bytes);
  }

  #in(encoding: Encoding): Promise<Buffer> {
    const known = this.#compressed.get(encoding);
    if (known) return known;
    const bytes = compressors[encoding](this.#bytes);
    this.#compressed.set(encoding, bytes);
    return bytes;
  }
}

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/** Texts by name; no more are kept than there are names. */
export class KeptTexts {
  readonly #kept = new Map<string, { readonly of: string; readonly text: Promise<KeptText> }>();

  /** The text of that name; made the first time, and again when it is `of` something else than before. */
  read(name: string, make: () => string | Promise<string>, of = ""): Promise<KeptText> {
    const known = this.#kept.get(name);
    if (known?.of === of) return known.text;
    const text = Promise.resolve()
      .then(make)
      .then((made) => new KeptText(made));
    this.#kept.set(name, { of, text });
    text.catch(() => this.#kept.delete(name));
    return text;
  }
}
