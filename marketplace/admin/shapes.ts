import { z } from "zod";
import { failedRequestsKeptDays } from "../failed-requests.ts";
import { anyObject, cursor, moment, runId, wholeCredits } from "../http/shapes.ts";
import { facilitatorRecordShape } from "../payments/facilitator/facilitator-record.ts";
import { actNames } from "./acts.ts";

/** What operators are answered. */

export const confirmedShape = z.object({ confirmed_until: moment }).meta({ id: "OperatorConfirmed" });

const accountState = z.enum(["open", "suspended", "closed"]);
const agentState = z.enum(["draft", "live", "unpublished", "suspended"]);

const callShape = z.object({
  network: z.string(),
  key: z.string().describe("What identifies the payment: the transaction on Hedera, asset, payer and nonce on EVM."),
  product: z.string(),
  agent: z.string().nullable().describe("Null for what is sold without an agent: credits, drawings."),
  version: z.int().nullable(),
  payer: z.string().nullable(),
  runId: z.string(),
  transaction: z.string().nullable(),
  amount: z.string().nullable(),
  asset: z.string().nullable(),
  payTo: z.string().nullable(),
  quoteId: z.string().nullable(),
  state: z.enum(["begun", "settled", "ran", "deliverable", "delivered"]),
  createdAt: moment,
  resultAt: moment.nullable(),
  deliveredAt: moment.nullable(),
  isLeased: z.boolean().nullable().describe("A post of the payment is working on it."),
  debt: z.string().nullable().describe("What the last failed run of a settled payment said."),
});

export const foundShape = z
  .object({
    accounts: z.array(
      z.object({
        id: z.string(),
        handle: z.string(),
        state: accountState,
        email: z.string().nullable(),
        credits: wholeCredits,
        created_at: moment,
      }),
    ),
    agents: z.array(
      z.object({
        id: z.string(),
        agent: z.string(),
        state: agentState,
        live_version: z.int().nullable(),
        created_at: moment,
      }),
    ),
    keys: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        start: z.string(),
        scope: z.string(),
        revoked: z.boolean(),
        account: z.string(),
      }),
    ),
    runs: z.array(
      z.object({
        run_id: runId,
        rail: z.enum(["credits", "per_call"]),
        agent: z.string(),
        agent_version: z.int(),
        buyer: z.string().nullable().describe("Null for a wallet."),
        key_id: z.string().nullable(),
        price_credits: wholeCredits,
        state: z.enum(["running", "succeeded", "failed", "lost"]),
        error: z.string().nullable(),
        input_kept: z.boolean(),
        created_at: moment,
        finished_at: moment.nullable(),
        postings: z.array(z.object({ id: z.string(), kind: z.string(), credits: wholeCredits, created_at: moment })),
      }),
    ),
    payments: z.array(
      z.object({
        marketplace: callShape
          .nullable()
          .describe("Null for a payment that this service does not have; `agreement` says whether it should."),
        facilitator: z
          .union([facilitatorRecordShape, z.enum(["none", "unheard"])])
          .describe("Its public record. `unheard`: it did not answer, which says nothing of the payment."),
        agreement: z
          .enum(["agree", "differ", "open", "behind", "unheard", "not_ours"])
          .describe(
            "`not_ours`: for a resource of another server. `behind`: settled, and this service has still to learn of it.",
          ),
      }),
    ),
    failures: z
      .array(
        z.object({
          request_id: z.string(),
          at: moment,
          method: z.string(),
          path: z.string(),
          status: z.int(),
          kind: z.string().describe("The error's name and code."),
          place: z.string().nullable().describe("Where in the code."),
        }),
      )
      .describe(
        `Requests that were answered with a fault of the service, by the id in \`X-Request-Id\`. Kept for ${failedRequestsKeptDays} days.`,
      ),
  })
  .meta({ id: "Found" });

export const readInputShape = z.object({ run_id: runId, input: anyObject }).meta({ id: "ReadInput" });

export const accountsShape = z
  .object({
    accounts: z.array(
      z.object({
        id: z.string(),
        handle: z.string(),
        state: accountState,
        created_at: moment,
        agents: z.int(),
        is_operator: z.boolean(),
        credits: wholeCredits,
        held_credits: wholeCredits,
        earned_credits: wholeCredits,
      }),
    ),
    cursor,
  })
  .meta({ id: "ListedAccounts" });

export const agentsShape = z
  .object({
    agents: z.array(
      z.object({
        id: z.string(),
        agent: z.string(),
        state: agentState,
        live_version: z.int().nullable(),
        created_at: moment,
        open_reports: z.int(),
      }),
    ),
    cursor,
  })
  .meta({ id: "AllAgents" });

export const reportsShape = z
  .object({
    reports: z.array(
      z.looseObject({
        id: z.string(),
        agent: z.string(),
        state: agentState,
        version: z.int(),
        reason: z.string(),
        text: z.string(),
        email: z.string().nullable(),
        run_id: runId.nullable().describe("Of a report on a shared run."),
        shared: z.string().nullable().describe("The last part of that run's link, while it is shared."),
        created_at: moment,
        resolved_at: moment.nullable(),
        note: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "Reports" });

export const resolvedShape = z
  .object({ id: z.string(), resolved_at: moment, note: z.string().nullable() })
  .meta({ id: "ResolvedReport" });

export const endedShareShape = z.object({ run_id: runId }).meta({ id: "EndedShare" });

export const movedAgentShape = z.object({ agent: z.string(), state: agentState }).meta({ id: "MovedAgent" });

export const grantedShape = z
  .object({
    account: z.string(),
    credits: wholeCredits,
    granted_today: wholeCredits.describe("By all operators, since midnight (UTC)."),
    per_day: wholeCredits,
  })
  .meta({ id: "Granted" });

export const notedShape = z.object({ noted: z.literal(true) }).meta({ id: "Noted" });

const act = {
  at: moment,
  act: z.enum(actNames),
  credits: wholeCredits.nullable(),
  reason: z.string().nullable().describe("What the account concerned is told."),
};

export const actsShape = z
  .object({
    acts: z.array(
      z.object({
        id: z.string(),
        ...act,
        operator: z.string().nullable().describe("Null: from the command line."),
        subject: z.string(),
        note: z.string().nullable().describe("For operators alone."),
      }),
    ),
    cursor,
  })
  .meta({ id: "OperatorActs" });

export const accountActsShape = z
  .object({
    acts: z.array(z.object({ ...act, subject: z.string().nullable().describe("Null where it is another's.") })),
    cursor,
  })
  .meta({ id: "ActsOnAccount" });
