import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import { runBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { anyObject } from "../http/shapes.ts";
import { parse } from "../parse.ts";
import type { Outcome } from "./execute.ts";
import { output } from "./shapes.ts";
import { type TryNeeds, triesPerMinute, tryAgent } from "./try.ts";

const triedShape = z
  .object({
    success: z.boolean(),
    version: z.int(),
    output: output.optional(),
    receipt: anyObject.nullable().optional(),
    error: z.string().optional(),
  })
  .meta({ id: "Tried" });

export const triedAnswer = jsonAnswer(triedShape, {
  success: true,
  version: 3,
  output: { kind: "text", text: "Each call pays its creator." },
  receipt: null,
});

const tryRequest = z.strictObject({ input: z.record(z.string(), z.unknown()).default({}) });

/** A creator's test run of an agent of their own. */
export function tryEndpoint(needs: TryNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agents/{slug}/try",
    id: "tryAgent",
    tag: "Publishing",
    summary: `Run the newest version once, for free; ${triesPerMinute} times a minute, within a daily allowance for its model.`,
    description:
      "Runs a draft as well as a live agent, and moves no credits. An agent whose effect cannot be taken back is a 409: there " +
      "is no trying it.",
    access: "account",
    pathParameters: { slug: agentPathParameters.slug },
    body: requestBody(tryRequest, { input: { text: "Buyers pay per call." } }, runBody),
    answers: {
      200: triedAnswer,
      ...refusals({
        404: 'There is no agent "summariser" of this account.',
        409: "What this agent does cannot be taken back, so there is no trying it.",
        422: { error: '"text" must have at most 20000 characters.', field: "text" },
      }),
    },
    handler: async (request, response) => {
      const { input } = parse(tryRequest, request.body ?? {}, "bad_request");
      response.json(triedOf(await tryAgent(needs, accountOf(response), String(request.params.slug), input)));
    },
  };
}

/** What a creator is told of a try. */
export function triedOf({ version, ...outcome }: Outcome & { readonly version: number }): object {
  const told = outcome.success
    ? { output: outcome.output, receipt: outcome.receipt ?? null }
    : { error: outcome.error };
  return { success: outcome.success, version, ...told };
}
