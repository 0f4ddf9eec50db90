import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { isAtAddress } from "../at-address.ts";
import { type FoundFailure, findFailedRequests } from "../failed-requests.ts";
import type { AccountId, AgentId } from "../ids.ts";
import { searchText } from "../query.ts";
import { type Concerned, recordAct } from "./acts.ts";
import { type FoundPayment, findPayments, type PaymentNeeds } from "./find-payments.ts";
import { type FoundRun, findRuns } from "./find-runs.ts";
import { type Sought, soughtBy } from "./ids.ts";
import { inTime } from "./in-time.ts";
import type { Operator } from "./operators.ts";

export const findQuery = z.object({
  id: searchText(200).describe(
    "Of a run, payment, transaction, quote, account, agent, key, report or failed request; a handle, wallet or e-mail address.",
  ),
});

export type FindNeeds = PaymentNeeds;

/** All that both services know by an id. The search is written into the audit log before anything is shown. 400 for what is no id. */
export async function find(needs: FindNeeds, operator: Operator, id: string): Promise<Found> {
  const sought = soughtBy(id);
  if (sought.length === 0) {
    throw new ApiError("bad_request", '"id" is no id of a run, payment, transaction, account, agent, key or report.', {
      body: { field: "id" },
    });
  }
  const found = await inTime(needs.db, (tx) => lookUp(tx, sought));
  const payments = await paymentsOf(needs, sought, found.runs);
  // A payment leads to its run, as a run to its payment.
  const runs = found.runs.length > 0 ? found.runs : await inTime(needs.db, (tx) => runsOf(tx, payments));
  const all = { ...found, runs, payments };
  await inTransaction(needs.db, (tx) =>
    recordAct(tx, {
      operatorId: operator.id,
      act: "found",
      subject: subjectOf(sought, all),
      concerned: concernedBy(all),
    }),
  );
  return {
    accounts: all.accounts,
    agents: all.agents.map(({ ownerId: _, ...agent }) => agent),
    keys: all.keys.map(({ accountId: _, ...key }) => key),
    runs: runs.map(({ buyerId: _, creatorId: _c, ...run }) => run),
    payments: payments.map(withoutCreator),
    failures: all.failures,
  };
}

/** A payment of several forms of an id is shown once. */
async function paymentsOf(
  needs: FindNeeds,
  sought: readonly Sought[],
  runs: readonly FoundRun[],
): Promise<FoundPayment[]> {
  // A run with credits has no payment to look for.
  const paid = sought.filter(({ kind }) => kind !== "run" || !runs.some(({ rail }) => rail === "credits"));
  const found = await Promise.all(paid.map((one) => findPayments(needs, one)));
  return found.flat();
}

async function lookUp(tx: Transaction, sought: readonly Sought[]) {
  const text = (...kinds: readonly Sought["kind"][]) =>
    sought.find(({ kind }) => kinds.includes(kind))?.text.replace(/^@/, "") ?? null;
  const keys = await findKeys(tx, text("key"));
  const agents = await findAgents(tx, { id: text("agent"), address: text("address"), report: text("report") });
  const ids = [...keys.map(({ accountId }) => accountId), ...agents.map(({ ownerId }) => ownerId)];
  const asked = { id: text("account"), handle: text("handle"), email: text("email"), wallet: text("wallet") };
  const run = text("run");
  const request = text("request");
  return {
    keys,
    agents,
    accounts: await findAccounts(tx, asked, ids),
    runs: run ? await findRuns(tx, [run]) : [],
    failures: request ? await findFailedRequests(tx, request) : [],
  };
}

const runsOf = (tx: Transaction, payments: readonly FoundPayment[]) =>
  findRuns(
    tx,
    payments.flatMap(({ marketplace }) => marketplace?.runId ?? []),
  );

async function findAccounts(
  db: Queryable,
  asked: Record<"id" | "handle" | "email" | "wallet", string | null>,
  ids: readonly AccountId[],
): Promise<FoundAccount[]> {
  const { rows } = await db.query<Omit<FoundAccount, "credits" | "created_at"> & { credits: bigint; createdAt: Date }>(
    `select a.id, a.handle, a.state, a.created_at as "createdAt", b.spendable as credits, u.email
     from accounts a join balances b on b.account_id = a.id left join sign_in_users u on u.account_id = a.id
     where a.id in (
       select unnest($5::text[] || $1::text)
       union all select account_id from handles where handle = lower($2)
       union all select account_id from sign_in_users where email = lower($3)
       union all (select account_id from payout_wallets where lower(address) = lower($4) limit 10))
     order by a.created_at desc limit 10`,
    [asked.id, asked.handle, asked.email, asked.wallet, ids],
  );
  return rows.map(({ createdAt, credits, ...row }) => ({
    ...row,
    credits: toSafeNumber(credits),
    created_at: createdAt.toISOString(),
  }));
}

async function findAgents(db: Queryable, asked: Record<"id" | "address" | "report", string | null>): Promise<Owned[]> {
  const { rows } = await db.query<Omit<Owned, "created_at"> & { createdAt: Date }>(
    `select id, handle || '/' || slug as agent, state, live_version, created_at as "createdAt", account_id as "ownerId" from agents a
     where id = $1 or ${isAtAddress("a", "$2")} or id = (select agent_id from reports where id = $3) limit 10`,
    [asked.id, asked.address, asked.report],
  );
  return rows.map(({ createdAt, ...row }) => ({ ...row, created_at: createdAt.toISOString() }));
}

async function findKeys(
  db: Queryable,
  key: string | null,
): Promise<Array<FoundKey & { readonly accountId: AccountId }>> {
  if (key === null) return [];
  const { rows } = await db.query(
    `select k.id, k.name, k.start, k.scope, k.revoked_at is not null as revoked, a.handle as account, a.id as "accountId"
     from api_keys k join accounts a on a.id = k.account_id where k.id = $1 or k.start = $1 limit 10`,
    [key],
  );
  return rows;
}

/**
 * The log is kept for good, so no e-mail address goes into it; the account that is concerned says whose it is. A text that could name a
 * request alone, and names none, could as well be a secret that was pasted by mistake.
 */
function subjectOf([first]: readonly Sought[], { failures }: Pick<Found, "failures">): string {
  const { kind, text } = first!;
  if (kind === "email") return "an e-mail address";
  return kind === "request" && failures.length === 0 ? "a request" : text;
}

function concernedBy({ accounts, agents, runs, payments }: Sides): Concerned[] {
  return [
    ...accounts.map(({ id, handle }) => ({ accountId: id, shown: handle })),
    ...agents.map(({ ownerId, agent }) => ({ accountId: ownerId, shown: agent })),
    ...runs.flatMap(({ buyerId, run_id }) => (buyerId ? [{ accountId: buyerId, shown: run_id as string }] : [])),
    ...runs.map(({ creatorId, agent }) => ({ accountId: creatorId, shown: agent })),
    ...payments.flatMap(({ marketplace: call }) =>
      call?.creatorId ? [{ accountId: call.creatorId, shown: call.agent ?? undefined }] : [],
    ),
  ];
}

function withoutCreator({ marketplace, ...payment }: FoundPayment): Found["payments"][number] {
  if (!marketplace) return { ...payment, marketplace };
  const { creatorId: _, ...call } = marketplace;
  return { ...payment, marketplace: call };
}

interface Sides {
  readonly accounts: readonly FoundAccount[];
  readonly agents: readonly Owned[];
  readonly runs: readonly FoundRun[];
  readonly payments: readonly FoundPayment[];
}

export interface Found {
  readonly accounts: readonly FoundAccount[];
  readonly agents: readonly FoundAgent[];
  readonly keys: readonly FoundKey[];
  readonly runs: ReadonlyArray<Omit<FoundRun, "buyerId" | "creatorId">>;
  readonly payments: ReadonlyArray<
    Omit<FoundPayment, "marketplace"> & {
      readonly marketplace: Omit<NonNullable<FoundPayment["marketplace"]>, "creatorId"> | null;
    }
  >;
  readonly failures: readonly FoundFailure[];
}

interface FoundAccount {
  readonly id: AccountId;
  readonly handle: string;
  readonly state: "open" | "suspended" | "closed";
  readonly email: string | null;
  readonly credits: number;
  readonly created_at: string;
}

interface FoundAgent {
  readonly id: AgentId;
  readonly agent: string;
  readonly state: "draft" | "live" | "unpublished" | "suspended";
  readonly live_version: number | null;
  readonly created_at: string;
}

type Owned = FoundAgent & { readonly ownerId: AccountId };

interface FoundKey {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly scope: string;
  readonly revoked: boolean;
  readonly account: string;
}
