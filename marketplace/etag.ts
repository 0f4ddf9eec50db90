import { createHash } from "node:crypto";
import type { Request, Response } from "express";

/** Answers one caller with JSON and its ETag, or 304 when the caller has it already. */
export function sendTagged(request: Request, response: Response, body: object): void {
  response.setHeader("cache-control", "private, no-cache");
  response.setHeader("vary", "authorization");
  send(request, response, body);
}

/** The same for everybody, pages of other origins too, and good for so many seconds. */
export function sendPublic(request: Request, response: Response, body: object, seconds: number): void {
  response.setHeader("cache-control", `public, max-age=${seconds}`);
  response.setHeader("access-control-allow-origin", "*");
  send(request, response, body);
}

function send(request: Request, response: Response, body: object): void {
  const text = JSON.stringify(body);
  const tag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  response.setHeader("etag", `W/${tag}`);
  if (isKnown(request.headers["if-none-match"], tag)) response.status(304).end();
  else response.type("json").send(text);
}

/** Express' own `fresh` gives up at `cache-control: no-cache`, which fetch adds to every conditional request. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((item) => item.trim() === "*" || item.trim().replace(/^W\//, "") === tag);
}
