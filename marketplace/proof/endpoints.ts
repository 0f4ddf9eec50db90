import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { cursor, moment } from "../http/shapes.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { countedMax, type Proof, proofQuery, readProof, showProof } from "./ledger-proof.ts";

interface Needs {
  readonly db: Database;
}

/** Creators who show every payout to every visitor. */
export function proofEndpoints(needs: Needs): Endpoint[] {
  return [readEndpoint(needs), showEndpoint(needs)];
}

const proofShape = covering<Proof>()(
  z
    .object({
      handle: z.string(),
      shown_since: moment,
      totals: z.array(
        z.object({
          network: z.string(),
          asset: z.string(),
          payouts: z.int(),
          amount: z.string().describe("Whole base units."),
        }),
      ),
      totals_at: moment.describe(
        "When the totals were added up, at most a minute ago: payouts that settled since are not among them.",
      ),
      counted: z.int().describe("So many of the newest payouts the totals add up."),
      is_complete: z.boolean().describe("Surely no older payout is left out of the totals."),
      payouts: z.array(
        z.object({
          at: moment,
          network: z.string(),
          asset: z.string(),
          amount: z.string(),
          pay_to: z.string(),
          transaction: z.string(),
        }),
      ),
      cursor,
    })
    .meta({ id: "LedgerProof" }),
);

const payout = { network: "hedera:testnet", asset: "0.0.429274", amount: "50000" };

function readEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/creators/{handle}/proof",
    id: "getLedgerProof",
    tag: "Agents",
    summary: "Every payout to a creator who shows them, each with its transaction.",
    description: `Newest first, with totals over the newest ${countedMax}, which may be a minute old. Who paid, and for which agent, is not told. Look each transaction up on its chain.`,
    access: "public",
    pathParameters: { handle: z.string().meta({ description: "The creator's handle.", examples: ["ada"] }) },
    query: proofQuery,
    answers: {
      200: jsonAnswer(proofShape, {
        handle: "ada",
        shown_since: exampleTime,
        totals: [{ ...payout, payouts: 1 }].map(({ network, asset, payouts, amount }) => ({
          network,
          asset,
          payouts,
          amount,
        })),
        totals_at: exampleTime,
        counted: 1,
        is_complete: true,
        payouts: [
          {
            at: exampleTime,
            ...payout,
            pay_to: "0.0.1004",
            transaction: "0.0.1001@1772443800.000000002",
          },
        ],
        cursor: null,
      }),
      ...refusals(503, { 404: "There is no such proof." }),
    },
    handler: async (request, response) => {
      response.json(await readProof(db, String(request.params.handle), readQuery(proofQuery, request.query)));
    },
  };
}

const showRequest = z.strictObject({ shown: z.boolean().describe("Whether every visitor sees every payout.") });

function showEndpoint({ db }: Needs): Endpoint {
  return {
    method: "put",
    path: "/api/account/proof",
    id: "showLedgerProof",
    tag: "Payout wallets",
    summary: "Show every payout to every visitor, or no longer.",
    description:
      "What is shown: when, how much, to which wallet, in which transaction. Who paid, and for which agent, is not.",
    access: "account",
    body: requestBody(showRequest, { shown: true }, settingsBody),
    answers: { 200: jsonAnswer(showRequest.meta({ id: "LedgerProofShown" }), { shown: true }) },
    handler: async (request, response) => {
      const { shown } = parse(showRequest, request.body ?? {}, "bad_request");
      await showProof(db, accountOf(response).id, shown);
      response.json({ shown });
    },
  };
}
