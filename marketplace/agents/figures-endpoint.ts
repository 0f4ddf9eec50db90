import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleRunId, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { moment, runId, wholeCredits } from "../http/shapes.ts";
import { readQuery } from "../query.ts";
import { figuresDays } from "./count-runs.ts";
import { findOwnAgent } from "./creator-agents.ts";
import { type CreatorFigures, failuresMax, figuresQuery, readCreatorFigures } from "./creator-figures.ts";
import { agentPathParameters } from "./shapes.ts";

const sums = {
  runs: z.int(),
  failed: z.int().describe("Of those; no buyer was charged for them."),
  credits: wholeCredits.describe("Earned, less the platform's fee."),
  usdc: z.string().describe("Settled, to the creator's wallets; with six decimals."),
};

const figuresShape = covering<CreatorFigures>()(
  z
    .object({
      ...sums,
      success_rate: z.number().min(0).max(1).nullable(),
      runs_before: z.int().describe("Of as many days before."),
      median_ms: z.int().nullable().describe(`Of the last ${figuresDays} days at most, within 5 %.`),
      p95_ms: z.int().nullable(),
      days: z.array(z.object({ day: z.iso.date(), ...sums })),
      payers: z
        .array(z.object({ payer: z.string(), runs: z.int() }))
        .describe(
          "Of runs that succeeded: `key` and `session` paid with credits, a network by wallet, `wallet` too where the network is " +
            "not known; `free` nothing.",
        ),
      failures: z
        .array(
          z.object({
            cause: z.string().describe("As the buyers were told."),
            runs: z.int(),
            last_at: moment,
            example: runId,
            shared: z.string().nullable().describe("The last part of its link, if its buyer shares it."),
          }),
        )
        .describe(`By cause, of the newest ${failuresMax}.`),
    })
    .meta({ id: "CreatorFigures" }),
);

/** What an agent brings its creator, day by day, and why it fails. */
export function creatorFiguresEndpoint({ db }: { readonly db: Database }): Endpoint {
  const day = { runs: 40, failed: 1, credits: 195, usdc: "1.250000" };
  return {
    method: "get",
    path: "/api/account/agents/{slug}/figures",
    id: "getOwnAgentFigures",
    tag: "Publishing",
    summary: "How one of them does: runs, success, times, revenue by day, who pays, and failures by cause.",
    description:
      "Your own runs do not count. A run is counted a few seconds after it ended; what a wallet paid, once it has settled.",
    access: "account",
    pathParameters: { slug: agentPathParameters.slug },
    query: figuresQuery,
    answers: {
      200: jsonAnswer(figuresShape, {
        ...day,
        success_rate: 0.975,
        runs_before: 31,
        median_ms: 2_200,
        p95_ms: 4_100,
        days: [{ day: exampleTime.slice(0, 10), ...day }],
        payers: [{ payer: "key", runs: 39 }],
        failures: [
          { cause: "The agent took too long.", runs: 1, last_at: exampleTime, example: exampleRunId, shared: null },
        ],
      }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const { days } = readQuery(figuresQuery, request.query);
      const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
      response.json(await readCreatorFigures(db, own.id, days));
    },
  };
}
