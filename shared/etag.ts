import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { LargeAnswers } from "./large-answers.ts";

/** Answers one caller with JSON and its ETag, or 304 when the caller has it already. Throws ApiError 429 and 503 as LargeAnswers does. */
export function sendTagged(request: Request, response: Response, body: object): void {
  response.setHeader("cache-control", "private, no-cache");
  response.setHeader("vary", "authorization");
  sendText(request, response, "json", JSON.stringify(body));
}

/** Answers every caller alike, pages of other origins too; caches may keep it for `seconds`. */
export function sendPublic(request: Request, response: Response, body: object, seconds: number): void {
  response.setHeader("access-control-allow-origin", "*");
  sendPublicText(request, response, { type: "json", text: JSON.stringify(body), seconds });
}

/** Sends a public text that caches may keep for `seconds`. */
export function sendPublicText(
  request: Request,
  response: Response,
  { type, text, seconds }: { readonly type: string; readonly text: string; readonly seconds: number },
): void {
  response.setHeader("cache-control", `public, max-age=${seconds}`);
  sendText(request, response, type, text);
}

function sendText(request: Request, response: Response, type: string, text: string): void {
  if (isUnchanged(request, response, text)) {
    response.status(304).end();
    return;
  }
  largeAnswers.begin(request, response, text.length);
  response.type(type).send(text);
}

const largeAnswers = new LargeAnswers();

/** Names the text by an ETag, and tells whether the caller has it. */
export function isUnchanged(request: Request, response: Response, text: string): boolean {
  return isTagged(request, response, tagOf(text));
}

export function tagOf(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}

/** Names what is sent by a weak ETag, since the same text is sent in several encodings, and tells whether the caller has it. */
export function isTagged(request: Request, response: Response, tag: string): boolean {
  response.setHeader("etag", `W/${tag}`);
  return isKnown(request.headers["if-none-match"], tag);
}

/** Express' own `fresh` gives up at `cache-control: no-cache`, which fetch adds to every conditional request. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((item) => item.trim() === "*" || item.trim().replace(/^W\//, "") === tag);
}
