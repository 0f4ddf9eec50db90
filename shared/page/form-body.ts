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
  let fields = 1;
  await receiveBody(request, bytesMax, (chunk) => {
    fields += countOf("&", chunk, fieldsMax);
    if (fields > fieldsMax) throw new ApiError("bad_request", `The form has more than ${fieldsMax} fields.`);
    chunks.push(chunk);
    return undefined;
  });
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
  if (countOf("\r\n", bytes, linesMax) > linesMax)
    throw new ApiError("bad_request", "The form has too many parts or headers.");
  return new Response(bytes as BodyInit, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw new ApiError("bad_request", "The form cannot be read.", { cause });
  });
}

/** Reading a form costs by these and not by the byte: the largest one here has a thousand fields. */
const fieldsMax = 5_000;
/** Lines in a form with files. A picture of ten megabytes has some hundred by chance. */
const linesMax = 20_000;

/** How often it is there, counted no further than one more than `most`. */
function countOf(text: string, bytes: Uint8Array, most: number): number {
  const within = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = within.indexOf(text); at !== -1 && count <= most; at = within.indexOf(text, at + text.length))
    count += 1;
  return count;
}
