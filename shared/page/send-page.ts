import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request, Response } from "express";
import { encodingOf } from "../content-encoding.ts";
import { isUnchanged } from "../etag.ts";
import { LargeAnswers } from "../large-answers.ts";
import { pageHeaders, publicHeaders, type Widening } from "./policy.ts";

const compressors = {
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 5 }),
};

interface SentPage {
  readonly html: string;
  readonly status: number;
  readonly widening?: Widening | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Every visitor gets the page alike: shared caches may keep it for a second. */
  readonly isPublic?: boolean;
}

/** Pages with runs whose outputs are megabytes. */
const largePages = new LargeAnswers();

/**
 * Ends the answer with a page under the headers that protect it, compressed as the browser takes it, or with 304 where the browser,
 * or a shared cache, has it already. Throws ApiError 429 and 503 as LargeAnswers does.
 */
export async function sendPage(request: Request, response: Response, page: SentPage): Promise<void> {
  const { html, status, widening, headers, isPublic = false } = page;
  // What a form has done is told in any case.
  if (request.method !== "POST") largePages.begin(request, response, html.length);
  const all: Readonly<Record<string, string>> = {
    ...pageHeaders(widening),
    ...(isPublic && publicHeaders),
    ...headers,
  };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  response.vary("accept-encoding");
  response.status(status);
  const mayBeKept = status === 200 && request.method !== "POST" && all["cache-control"] !== "no-store";
  if (mayBeKept && isUnchanged(request, response, html)) return void response.status(304).end();
  const encoding = encodingOf(request);
  response.setHeader("content-type", "text/html; charset=utf-8");
  if (!encoding) return void response.end(html);
  const bytes = await compressors[encoding](html);
  response.setHeader("content-encoding", encoding);
  response.setHeader("content-length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}
