import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable, Transaction } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { microsOf, type Place, pageOf, pageQuery, placeValues, searchText } from "../query.ts";

/** What an operator can do; each is written into the audit log in the transaction that does it. */
export const actNames = [
  "named",
  "removed",
  "confirmed",
  "found",
  "read_input",
  "suspended_account",
  "restored_account",
  "suspended_agent",
  "restored_agent",
  "granted",
  "resolved_report",
  "ended_share",
  "noted",
] as const;
export type ActName = (typeof actNames)[number];

/** The longest reason or note, in characters. */
export const actTextMax = 2_000;

export interface NewAct {
  /** Left out: from the command line. */
  readonly operatorId?: AccountId;
  readonly act: ActName;
  /** The subject of the act, under the name that operators use. */
  readonly subject: string;
  readonly credits?: bigint;
  /** Told to the account concerned. */
  readonly reason?: string | undefined;
  /** For operators alone. */
  readonly note?: string | undefined;
  readonly concerned: readonly Concerned[];
}

/** An account that an act was about, and what it may know of the subject: undefined where that is another's. */
export interface Concerned {
  readonly accountId: AccountId;
  readonly shown: string | undefined;
}

/** Writes an act down, for good. */
export async function recordAct(tx: Transaction, act: NewAct): Promise<void> {
  const { rows } = await tx.query<{ id: bigint }>(
    `insert into operator_acts (operator_id, act, subject, credits, reason, note) values ($1, $2, $3, $4, $5, $6) returning id`,
    [
      act.operatorId ?? null,
      act.act,
      act.subject.slice(0, 300),
      act.credits ?? null,
      act.reason ?? null,
      act.note ?? null,
    ],
  );
  // An account that is concerned in two ways is told of the first that it may know.
  const shown = new Map<AccountId, string | undefined>();
  for (const one of act.concerned) shown.set(one.accountId, shown.get(one.accountId) ?? one.shown);
  await tx.query(
    `insert into operator_act_accounts (act_id, account_id, shown) select $1, * from unnest($2::text[], $3::text[])`,
    [rows[0]!.id, [...shown.keys()], [...shown.values()].map((text) => text ?? null)],
  );
}

const page = pageQuery(/^\d{1,18}$/);
export const actsQuery = z.object({
  ...page,
  operator: searchText(30).optional().describe("Of this operator alone, by handle."),
});

/** The audit log, newest first. */
export async function listActs(db: Queryable, asked: z.infer<typeof actsQuery>): Promise<ActPage> {
  const { rows } = await db.query<ActRow>(
    `select t.id::text as id, ${micros} as "createdMicros", t.at, a.handle as operator, t.act, t.subject, t.credits, t.reason, t.note
     from operator_acts t left join accounts a on a.id = t.operator_id
     where ${before} and ($4::text is null or t.operator_id = (select account_id from handles where handle = lower($4)))
     order by t.at desc, t.id desc limit $3`,
    [...placeValues(asked.cursor, "bigint"), asked.limit + 1, asked.operator ?? null],
  );
  const { page, cursor } = pageOf(rows, asked.limit);
  return {
    acts: page.map(({ createdMicros: _, credits, at, ...act }) => ({
      ...act,
      at: at.toISOString(),
      credits: credits === null ? null : toSafeNumber(credits),
    })),
    cursor,
  };
}

export const accountActsQuery = z.object(page);

/** What operators did that concerned an account, newest first: without their notes, their names, or others' data. */
export async function listActsOn(
  db: Queryable,
  accountId: AccountId,
  asked: z.infer<typeof accountActsQuery>,
): Promise<AccountActPage> {
  const { rows } = await db.query<AccountActRow>(
    `select t.id::text as id, ${micros} as "createdMicros", t.at, t.act, c.shown as subject, t.credits, t.reason
     from operator_act_accounts c join operator_acts t on t.id = c.act_id
     where c.account_id = $4 and ${before} order by t.at desc, t.id desc limit $3`,
    [...placeValues(asked.cursor, "bigint"), asked.limit + 1, accountId],
  );
  const { page, cursor } = pageOf(rows, asked.limit);
  return {
    acts: page.map(({ at, act, subject, credits, reason }) => ({
      at: at.toISOString(),
      act,
      subject,
      credits: credits === null ? null : toSafeNumber(credits),
      reason,
    })),
    cursor,
  };
}

/** Why agents of the account were suspended last, by their slugs; those that were restored since are left out. */
export async function suspensionReasons(db: Queryable, accountId: AccountId): Promise<Map<string, string>> {
  const { rows } = await db.query<{ slug: string; act: ActName; reason: string | null }>(
    `select distinct on (split_part(c.shown, '/', 2)) split_part(c.shown, '/', 2) as slug, t.act, t.reason
     from operator_act_accounts c join operator_acts t on t.id = c.act_id
     where c.account_id = $1 and t.act in ('suspended_agent', 'restored_agent') and c.shown is not null
     order by split_part(c.shown, '/', 2), t.id desc`,
    [accountId],
  );
  return new Map(
    rows.flatMap(({ slug, act, reason }) => (act === "suspended_agent" && reason ? [[slug, reason] as const] : [])),
  );
}

const micros = microsOf("t.at");
const before = `($1::bigint is null or (t.at, t.id) < (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::bigint))`;

export interface Act {
  readonly id: string;
  readonly at: string;
  /** Null: from the command line. */
  readonly operator: string | null;
  readonly act: ActName;
  readonly subject: string;
  readonly credits: number | null;
  readonly reason: string | null;
  readonly note: string | null;
}

export interface ActPage {
  readonly acts: readonly Act[];
  readonly cursor: string | null;
}

export interface AccountAct {
  readonly at: string;
  readonly act: ActName;
  /** Null where it is not the account's own. */
  readonly subject: string | null;
  readonly credits: number | null;
  readonly reason: string | null;
}

export interface AccountActPage {
  readonly acts: readonly AccountAct[];
  readonly cursor: string | null;
}

type ActRow = Place & Omit<Act, "at" | "credits"> & { readonly at: Date; readonly credits: bigint | null };
type AccountActRow = Place &
  Omit<AccountAct, "at" | "credits"> & { readonly at: Date; readonly credits: bigint | null };
