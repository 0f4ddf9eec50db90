import { createHash } from "node:crypto";
import type { Request, Response } from "express";

/** Answers with JSON and its ETag, or 304 when the caller has it already. */
export function sendTagged(request: Request, response: Response, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader("etag", `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`);
  response.setHeader("cache-control", "private, no-cache");
  response.setHeader("vary", "authorization");
  if (request.fresh) response.status(304).end();
  else response.type("json").send(text);
}
