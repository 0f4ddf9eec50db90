import type { RequestHandler } from "express";
import type { Context } from "../context.ts";
import { sendTagged } from "../etag.ts";
import { readQuery } from "../query.ts";
import { describeAgent } from "./detail.ts";
import { listAgents, listQuery } from "./list.ts";

/** GET /api/v1/agents */
export function getAgents({ db }: Context): RequestHandler {
  return async (request, response) => {
    sendTagged(request, response, await listAgents(db, readQuery(listQuery, request.query)));
  };
}

/** GET /api/v1/agents/:handle/:slug */
export function getAgent(context: Context): RequestHandler {
  return async (request, response) => {
    const { handle, slug } = request.params;
    sendTagged(request, response, await describeAgent(context, `${handle}/${slug}`));
  };
}
