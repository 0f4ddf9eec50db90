import type { RequestHandler } from "express";
import type { Context } from "../context.ts";
import { sendTagged } from "../etag.ts";
import { parse } from "../parse.ts";
import { describeAgent } from "./detail.ts";
import { listAgents, listQuery } from "./list.ts";

/** GET /api/v1/agents */
export function getAgents({ db }: Context): RequestHandler {
  return async (request, response) => {
    const given = Object.fromEntries(Object.entries(request.query).filter(([, value]) => value !== ""));
    sendTagged(request, response, await listAgents(db, parse(listQuery, given, "bad_request")));
  };
}

/** GET /api/v1/agents/:handle/:slug */
export function getAgent(context: Context): RequestHandler {
  return async (request, response) => {
    const { handle, slug } = request.params;
    sendTagged(request, response, await describeAgent(context, `${handle}/${slug}`));
  };
}
