import type { RequestHandler } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { readQuery, wholeNumber } from "../query.ts";

/** Nothing in a file may run, load or be framed as ours, whatever a browser makes of it. */
const fileHeaders = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "cache-control": "public, max-age=31536000, immutable",
} as const;

/** GET /files/{name} */
export function getFile({ tools }: Context): RequestHandler {
  return async (request, response) => {
    const name = String(request.params.name);
    const { bytes, contentType } = await tools.files.read(name);
    for (const [header, value] of Object.entries(fileHeaders)) response.setHeader(header, value);
    const etag = `"${name.slice(0, 64)}"`;
    response.setHeader("etag", etag);
    if (request.headers["if-none-match"]?.includes(etag)) return void response.status(304).end();
    response.setHeader("content-type", contentType);
    response.end(bytes);
  };
}

export const filesQuery = z.object({
  limit: wholeNumber(1, 100).default(20).describe("Files a page."),
  offset: wholeNumber(0, 1_000_000).default(0).describe("Files to skip."),
});

/** GET /api/v1/files: what the caller's agents have made. */
export function getFiles({ tools }: Context): RequestHandler {
  return async (request, response) => {
    const asked = readQuery(filesQuery, request.query);
    response.json({ files: await tools.files.list(callerOf(response).accountId, asked), ...asked });
  };
}

/** POST /api/v1/files/{name}/hide and /show */
export function postFileVisibility({ tools }: Context, hidden: boolean): RequestHandler {
  return async (request, response) => {
    const name = String(request.params.name);
    if (name.includes("\0")) {
      throw new ApiError("bad_request", '"name" holds a character that is none (NUL).', { body: { field: "name" } });
    }
    await tools.files.setHidden(callerOf(response).accountId, name, hidden);
    response.json({ name, hidden });
  };
}
