import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { type Account, accountByHandle, lockUnclosedAccount } from "../accounts/create.ts";
import { moveAccount } from "../accounts/state.ts";
import { moveAgent } from "../agents/state.ts";
import { isAtAddress } from "../at-address.ts";
import { credits } from "../credits/amount.ts";
import { grant } from "../credits/ledger.ts";
import type { AccountId } from "../ids.ts";
import { parse } from "../parse.ts";
import { type ResolveOptions, resolveReport } from "../reports/operator-reports.ts";
import { actTextMax, recordAct } from "./acts.ts";
import { withoutNul } from "./ids.ts";
import { recordMove } from "./moves.ts";
import type { Operator } from "./operators.ts";

const note = z.string().trim().max(actTextMax).describe("For operators alone.");
const why = z.string().trim().min(1, "must say why").max(actTextMax);

export const moveRequest = z.strictObject({
  move: z.enum(["suspend", "restore"]),
  reason: why.describe("The account concerned is told it, by e-mail too."),
  note: note.optional(),
});

/** Suspends or restores an account; 404 when there is none, 409 from another state and for the operator's own. */
export async function moveAccountAs(db: Database, operator: Operator, handle: string, said: unknown): Promise<Account> {
  const { move, reason, note } = parse(moveRequest, said, "invalid_value");
  const account = await accountByHandle(db, withoutNul(handle));
  refuseOwn(operator, account.id);
  return moveAccount(db, account, move, {
    record: (tx) => {
      const [accountId, subject, operatorId] = [account.id, account.handle, operator.id];
      return recordMove(tx, { of: "account", move, accountId, subject, operatorId, reason, note });
    },
  });
}

/** Takes an agent off the market, or lets it back; 409 when that is not possible from its state, and for the operator's own. */
export async function moveAgentAs(
  db: Database,
  operator: Operator,
  address: string,
  said: unknown,
): Promise<{ agent: string; state: string }> {
  const { move, reason, note } = parse(moveRequest, said, "invalid_value");
  return inTransaction(db, async (tx) => {
    const { accountId, agent } = await agentAt(tx, withoutNul(address));
    refuseOwn(operator, accountId);
    const moved = await moveAgent(tx, agent, move);
    await recordMove(tx, {
      of: "agent",
      move,
      accountId,
      subject: moved.agent,
      operatorId: operator.id,
      reason,
      note,
    });
    return moved;
  });
}

/** Granted by all operators together, in a day (UTC). */
export const grantedPerDayMax = 10_000;

export const grantRequest = z.strictObject({
  credits: z.int().min(1).max(grantedPerDayMax),
  note: why.describe("Why, for operators alone."),
  reference: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, "must be 1 to 100 letters, digits and .:_-")
    .describe("Granted once, however often it is asked for."),
});

/**
 * Gives credits to another's account. 409 for a reference that was granted before and the operator's own account, 429 past the
 * day's cap.
 */
export async function grantAs(db: Database, operator: Operator, handle: string, said: unknown): Promise<Granted> {
  const asked = parse(grantRequest, said, "invalid_value");
  const account = await accountByHandle(db, withoutNul(handle));
  refuseOwn(operator, account.id);
  return inTransaction(db, async (tx) => {
    const grantedToday = await claimGrant(tx, BigInt(asked.credits));
    await lockUnclosedAccount(tx, account);
    const amount = credits(BigInt(asked.credits));
    const isNew = await grant(tx, { accountId: account.id, credits: amount, reference: `operator:${asked.reference}` });
    if (!isNew)
      throw new ApiError("conflict", `"reference" was granted before; nothing was granted now.`, {
        body: { field: "reference" },
      });
    await recordAct(tx, {
      operatorId: operator.id,
      act: "granted",
      subject: account.handle,
      credits: amount,
      note: asked.note,
      concerned: [{ accountId: account.id, shown: account.handle }],
    });
    return {
      account: account.handle,
      credits: asked.credits,
      granted_today: toSafeNumber(grantedToday),
      per_day: grantedPerDayMax,
    };
  });
}

/** What operators granted since midnight (UTC). */
export async function grantedToday(db: Pick<Database, "query">): Promise<number> {
  const { rows } = await db.query(
    "select granted from operator_grant_days where day = (now() at time zone 'utc')::date",
  );
  return Number(rows[0]?.granted ?? 0);
}

/** Counts it in the day's one row, which holds others back until this ends: together they stay below the cap. */
async function claimGrant(tx: Transaction, amount: bigint): Promise<bigint> {
  const { rows } = await tx.query<{ granted: bigint }>(
    `insert into operator_grant_days as days (day, granted) values ((now() at time zone 'utc')::date, $1)
     on conflict (day) do update set granted = days.granted + $1 where days.granted + $1 <= $2 returning granted`,
    [amount, grantedPerDayMax],
  );
  if (rows[0]) return rows[0].granted;
  const seconds = Math.max(1, Math.ceil(86_400 - ((Date.now() / 1_000) % 86_400)));
  throw new ApiError(
    "rate_limited",
    `Operators grant no more than ${grantedPerDayMax} credits a day (UTC). Nothing was granted.`,
    {
      headers: { "retry-after": String(seconds) },
      body: { field: "credits" },
    },
  );
}

export const resolveRequest = z.strictObject({ note: note.optional() });

/** Marks a visitor's report as dealt with; 404 when there is none. The agent stays as it is. */
export async function resolveReportAs(
  db: Database,
  operator: Operator,
  id: string,
  said: unknown,
  options: ResolveOptions = {},
): Promise<Resolved> {
  const asked = parse(resolveRequest, said, "invalid_value");
  return inTransaction(db, async (tx) => {
    const resolved = await resolveReport(tx, withoutNul(id), asked.note || undefined, options);
    await recordAct(tx, {
      operatorId: operator.id,
      act: "resolved_report",
      subject: resolved.id,
      note: asked.note,
      concerned: [],
    });
    return resolved;
  });
}

export const noteRequest = z.strictObject({
  on: z.string().trim().min(1, "must say on what").max(300).describe("An id, an address, or in words."),
  note: why.describe("For operators alone."),
});

/** Writes a note into the audit log. */
export async function noteAs(db: Database, operator: Operator, said: unknown): Promise<{ noted: true }> {
  const { on, note } = parse(noteRequest, said, "invalid_value");
  await inTransaction(db, (tx) =>
    recordAct(tx, { operatorId: operator.id, act: "noted", subject: on, note, concerned: [] }),
  );
  return { noted: true };
}

export interface Granted {
  readonly account: string;
  readonly credits: number;
  readonly granted_today: number;
  readonly per_day: number;
}

type Resolved = Awaited<ReturnType<typeof resolveReport>>;

/** The account that owns the agent, and the agent's address now. */
async function agentAt(tx: Transaction, address: string): Promise<{ accountId: AccountId; agent: string }> {
  const { rows } = await tx.query<{ accountId: AccountId; agent: string }>(
    `select account_id as "accountId", handle || '/' || slug as agent from agents a where ${isAtAddress("a", "$1")}`,
    [address],
  );
  if (rows[0]) return rows[0];
  throw new ApiError("not_found", `There is no agent "${address}".`);
}

/** Operators do not decide on their own affairs: another one must. */
function refuseOwn({ id }: Operator, accountId: AccountId): void {
  if (id === accountId) throw new ApiError("conflict", "It is your own. Another operator must do it.");
}
