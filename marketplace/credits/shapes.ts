import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { scopes } from "../api-keys/key-settings.ts";
import { cursor, moment, runId, wholeCredits } from "../http/shapes.ts";
import { type Alerts, alertsRequest } from "./alerts.ts";
import type { Statement } from "./statement.ts";
import { kinds, ledgerAccounts } from "./statement-rows.ts";
import type { AccountStatement } from "./statement-totals.ts";

export const balanceShape = z
  .object({
    credits: wholeCredits.describe("What can be spent now."),
    held_credits: wholeCredits.describe("Set aside for runs that are running."),
    earned_credits: wholeCredits,
    account: z.object({ handle: z.string() }),
    key: z.object({
      name: z.string(),
      start: z.string(),
      scope: z.enum(scopes),
      rate_limit_per_minute: z.int(),
      max_credits_per_day: z.int().nullable(),
    }),
  })
  .meta({ id: "Balance" });

const posting = {
  id: z.string(),
  kind: z.enum(kinds),
  credits: z.int().min(1),
  from: z.enum(ledgerAccounts),
  to: z.enum(ledgerAccounts),
  run_id: runId.nullable().describe("Of the account's own run."),
  key: z
    .object({ id: z.templateLiteral(["key_", z.string()]), name: z.string() })
    .nullable()
    .describe("The key that ran it; null for a run by a person who is signed in."),
  agent: z.string().nullable().describe("Known for as long as the run is kept."),
  payment: z
    .object({ network: z.string(), transaction: z.string() })
    .nullable()
    .describe("What a purchase was paid by."),
  note: z.string().nullable(),
  created_at: moment,
};

export const statementShape = covering<Statement>()(
  z.object({ postings: z.array(z.object(posting).meta({ id: "Posting" })), cursor }).meta({ id: "Statement" }),
);

const standing = { credits: wholeCredits, earned_credits: wholeCredits };

export const accountStatementShape = covering<AccountStatement>()(
  z
    .object({
      postings: z.array(
        z.object({
          ...posting,
          balance: wholeCredits
            .nullable()
            .describe("The spendable credits after it; null where the filters leave postings out."),
        }),
      ),
      cursor,
      opening: z.object(standing).describe("What there was when the period began, whatever the filters select."),
      closing: z.object(standing).describe("The same for its end."),
      totals: z
        .array(z.object({ kind: z.enum(kinds), postings: z.int(), credits: z.int(), earned_credits: z.int() }))
        .describe("Of the selected postings, by kind: what they add; below zero what they take."),
    })
    .meta({ id: "AccountStatement" }),
);

export const alertsShape = covering<Alerts>()(
  z
    .object({
      ...alertsRequest.shape,
      email: z
        .string()
        .nullable()
        .describe("Where it is told; null where there is none or this service sends no e-mail."),
    })
    .meta({ id: "Alerts" }),
);

export const creditsShape = z
  .object({
    credits: wholeCredits.describe("What can be spent now."),
    held_credits: wholeCredits.describe("Set aside for runs that are running."),
    earned_credits: wholeCredits,
    running: z.int().min(0).describe("Runs that hold credits."),
    spent_today: wholeCredits.describe("By runs since midnight UTC that run or succeeded."),
    runs_today: z.int().min(0),
  })
  .meta({ id: "Credits" });

export const transferShape = z.object({ credits: wholeCredits, earned_credits: wholeCredits }).meta({ id: "Moved" });
