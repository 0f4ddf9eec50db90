import { z } from "zod";
import { isAtAddress } from "../at-address.ts";
import type { AccountId, KeyId, RunId } from "../ids.ts";
import { type Place, searchText } from "../query.ts";

export const kinds = [
  "grant",
  "purchase",
  "transfer",
  "hold",
  "capture",
  "fee",
  "release",
  "reward",
  "model_reserve",
  "model_return",
  "repayment",
] as const;

type Kind = (typeof kinds)[number];

export const ledgerAccounts = ["spendable", "earned", "held", "models", "owed", "issued", "other_account"] as const;

const day = z.iso.date("must be a day such as 2026-03-02").transform((text) => new Date(`${text}T00:00:00Z`));

/** Which of the account's postings are meant; days are UTC's. */
export const statementFilters = {
  kind: z
    .string()
    .max(200)
    .regex(
      new RegExp(`^(${kinds.join("|")})(,(${kinds.join("|")}))*$`),
      `must be one or several of ${kinds.join(", ")}`,
    )
    .transform((text) => text.split(",") as Kind[])
    .optional()
    .meta({ type: "string", description: "One kind or several, with commas between them." }),
  from: day.optional().meta({ type: "string", format: "date", description: "The first day, in UTC." }),
  to: day.optional().meta({ type: "string", format: "date", description: "The last day, in UTC." }),
  agent: searchText(100).optional().describe("`handle/slug`; known for as long as the run is kept."),
  run_id: searchText(60).optional().describe("Of the account's own run."),
  key_id: searchText(60).optional().describe("The key whose runs it paid; known for as long as they are kept."),
};

/** 400 naming `to` for a period that ends before it begins: what it began and ended with would not add up. */
export function inOrder<Shape extends z.ZodType<StatementFilter>>(shape: Shape): Shape {
  return shape.superRefine(({ from, to }, issues) => {
    if (from && to && to < from) issues.addIssue({ code: "custom", path: ["to"], message: "is before from" });
  });
}

export interface StatementFilter {
  readonly kind?: readonly Kind[] | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly agent?: string | undefined;
  readonly run_id?: string | undefined;
  readonly key_id?: string | undefined;
}

/** The values of `$1` to `$7` in `selected`. */
export function filterValues(accountId: AccountId, filter: StatementFilter): unknown[] {
  const { kind, from, to, agent, run_id, key_id } = filter;
  const end = to && new Date(to.getTime() + dayMs);
  return [accountId, from ?? null, end ?? null, kind ?? null, agent ?? null, run_id ?? null, key_id ?? null];
}

const dayMs = 86_400_000;

/** SQL of the period: `$2` is its beginning, `$3` the moment after its end. */
export const inPeriod =
  "created_at >= coalesce($2::timestamptz, '-infinity') and created_at < coalesce($3::timestamptz, 'infinity')";

/**
 * SQL of the other filters, over `postings`; one that is not given leaves no condition for the planner. The run of another account is
 * asked for nothing but its agent.
 */
export function selected({ kind, agent, run_id, key_id }: StatementFilter): string {
  return [
    kind ? "kind = any($4)" : "$4::text[] is null",
    agent ? ofAgent : "$5::text is null",
    run_id ? "run_id = $6 and kind in ('hold', 'release')" : "$6::text is null",
    key_id ? ofKey : "$7::text is null",
  ].join(" and ");
}

/** SQL: the agent for whose models a posting sets credits aside. */
export function agentOfModels(posting: string): string {
  return `substr(case when ${posting}.from_purse like 'models:%' then ${posting}.from_purse
    when ${posting}.to_purse like 'models:%' then ${posting}.to_purse end, 8)`;
}

const ofAgent = `(
    select a.id from agents a where ${isAtAddress("a", "$5")}
  ) = coalesce((select r.agent_id from runs r where r.id = run_id), ${agentOfModels("postings")})`;

const ofKey = `kind in ('hold', 'release') and exists (
    select from runs r where r.id = run_id and r.account_id = $1 and r.key_id = $7)`;

/** A posting as the statement's query reads it. */
export interface StatementRow extends Place {
  readonly kind: Kind;
  readonly amount: bigint;
  readonly createdAt: Date;
  readonly runId: RunId | null;
  readonly keyId: KeyId | null;
  readonly keyName: string | null;
  readonly note: string | null;
  readonly from: (typeof ledgerAccounts)[number];
  readonly to: (typeof ledgerAccounts)[number];
  readonly agent: string | null;
  readonly network: string | null;
  readonly transaction: string | null;
}
