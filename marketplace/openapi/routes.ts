import type { RequestHandler } from "express";
import type { Context } from "../context.ts";
import { sendTagged } from "../etag.ts";
import { openApiDocument } from "./document.ts";
import { llmsTxt } from "./llms-txt.ts";

/** GET /api/v1/openapi.json */
export function getOpenApi({ config }: Context): RequestHandler {
  const document = openApiDocument(config.publicUrl);
  return (request, response) => sendTagged(request, response, document);
}

/** GET /llms.txt */
export function getLlmsTxt({ config }: Context): RequestHandler {
  const text = llmsTxt(config.publicUrl);
  return (_request, response) => {
    response.type("text/plain").setHeader("cache-control", "public, max-age=3600").send(text);
  };
}
