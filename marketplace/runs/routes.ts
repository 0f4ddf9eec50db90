import type { RequestHandler } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { listRuns, readRun, runsQuery } from "./history.ts";
import { runAgent } from "./run.ts";

export const runBody = z.object({
  agent: z.string().describe("`handle/slug`, in any case."),
  input: z
    .record(z.string(), z.unknown())
    .describe("Keyed by the agent's declared field names; other keys are dropped."),
  max_credits: z.int().min(0).optional().describe("The run is refused with 402 when it costs more."),
});

/** POST /api/v1/run */
export function postRun(context: Context): RequestHandler {
  return async (request, response) => {
    const { max_credits: maxCredits, ...asked } = parse(runBody, request.body, "bad_request");
    const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
    const { result, replayed } = await runAgent(context, callerOf(response), { ...asked, maxCredits, idempotencyKey });
    if (replayed) response.setHeader("idempotent-replayed", "true");
    response.json(result);
  };
}

/** GET /api/v1/runs */
export function getRuns({ db }: Context): RequestHandler {
  return async (request, response) => {
    response.json(await listRuns(db, callerOf(response).accountId, readQuery(runsQuery, request.query)));
  };
}

/** GET /api/v1/runs/:run_id */
export function getRun({ db }: Context): RequestHandler {
  return async (request, response) => {
    response.json(await readRun(db, callerOf(response).accountId, String(request.params.run_id)));
  };
}

/** The value as it was sent, quotes and all; the IETF draft writes it in quotes, most callers do not. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(header)) return header;
  throw new ApiError("bad_request", '"Idempotency-Key" must have 1 to 255 printable ASCII characters.', {
    body: { field: "Idempotency-Key" },
  });
}
