import type { Response as Answer, Request } from "express";
import { ApiError } from "../errors.ts";
import { receiveBody } from "../receive-body.ts";
import { readBytes } from "../request-body.ts";

/** The fields of a posted form (`application/x-www-form-urlencoded`). Throws ApiError: 400 for anything else, 413 for too much. */
export async function readForm(request: Request, bytesMax: number): Promise<URLSearchParams> {
  if (!request.is("application/x-www-form-urlencoded")) {
    throw new ApiError("bad_request", "The body must be a form (application/x-www-form-urlencoded).");
  }
  const chunks: Buffer[] = [];
  await receiveBody(request, bytesMax, (chunk) => void chunks.push(chunk));
  const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  for (const [field, value] of form) {
    if (!value.includes("\0")) continue;
    throw new ApiError("bad_request", `"${field}" holds a character that is none (NUL).`, { body: { field } });
  }
  return form;
}

/** The fields and files of a posted form (`multipart/form-data`). Throws ApiError: 400 for anything else, 413 for too much. */
export async function readFormWithFiles(request: Request, answer: Answer, bytesMax: number): Promise<FormData> {
  const type = request.headers["content-type"] ?? "";
  if (!request.is("multipart/form-data")) throw new ApiError("bad_request", "The body must be a form with files.");
  const bytes = await readBytes(request, answer, bytesMax);
  return new Response(bytes as BodyInit, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw new ApiError("bad_request", "The form cannot be read.", { cause });
  });
}
