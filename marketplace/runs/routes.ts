import type { RequestHandler } from "express";
import { z } from "zod";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { runAgent } from "./run.ts";

const body = z.object({ agent: z.string(), input: z.record(z.string(), z.unknown()) });

/** POST /api/v1/run */
export function postRun(context: Context): RequestHandler {
  return async (request, response) => {
    response.json(await runAgent(context, callerOf(response), parse(body, request.body, "bad_request")));
  };
}
