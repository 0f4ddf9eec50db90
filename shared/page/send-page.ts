import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request, Response } from "express";
import { encodingOf } from "./assets.ts";
import { pageHeaders, type Widening } from "./policy.ts";

const compressors = {
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 5 }),
};

export interface SentPage {
  readonly html: string;
  readonly status: number;
  readonly widening?: Widening | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends the answer with a page under the headers that protect it, compressed as the browser takes it. */
export async function sendPage(request: Request, response: Response, page: SentPage): Promise<void> {
  const { html, status, widening, headers } = page;
  for (const [name, value] of Object.entries({ ...pageHeaders(widening), ...headers })) response.setHeader(name, value);
  response.status(status);
  const encoding = encodingOf(request);
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.vary("accept-encoding");
  if (!encoding) return void response.end(html);
  const bytes = await compressors[encoding](html);
  response.setHeader("content-encoding", encoding);
  response.setHeader("content-length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}
