import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { readBalances } from "../credits/balance.ts";
import { historyDays } from "../history-days.ts";
import { readSetAside } from "../models/set-aside.ts";
import type { Account } from "./create.ts";

/** The things that closing the account would end or lose, and those that prevent it. */
export interface Closing {
  /** The balance, and what was set aside of it for its agents' models: that comes back. */
  readonly credits: bigint;
  readonly earned: bigint;
  /** Held for its own runs under way. */
  readonly held: bigint;
  /** Its own, and those of its agents, which earn when they end. */
  readonly runs_under_way: number;
  /** Calls of its agents that wallets paid for and whose buyers have no result yet. */
  readonly calls_owed: number;
  /** Credits that were paid for and are not in the balance yet. */
  readonly purchases_under_way: number;
  readonly live_agents: number;
  /** What is written and not published. */
  readonly drafts: number;
  readonly keys: number;
  readonly wallets: number;
}

export async function readClosing(db: Queryable, { id }: Account): Promise<Closing> {
  // First, so that what a run earns that ends in between is in the balance.
  const { rows } = await db.query<Omit<Closing, "credits" | "earned" | "held">>(
    `select (select count(*) from runs where state = 'running'
          and (account_id = $1 or agent_id in (select id from agents where account_id = $1)))::integer as runs_under_way,
       (${owedCalls})::integer as calls_owed,
       -- The proof of a payment is kept until the payment has come to its end.
       (select count(*) from paid_calls where proof is not null and product like 'credits:' || $1 || ':%'
          and output is null)::integer as purchases_under_way,
       (select count(*) from agents where account_id = $1 and state = 'live')::integer as live_agents,
       (select count(*) from agent_drafts where account_id = $1)::integer as drafts,
       (select count(*) from api_keys where account_id = $1 and revoked_at is null)::integer as keys,
       (select count(*) from payout_wallets where account_id = $1 and state <> 'retired')::integer as wallets`,
    [id],
  );
  const [balance] = await readBalances(db, [id]);
  const setAside = await readSetAside(db, id);
  const { credits, earned, held } = balance!;
  return { credits: credits + BigInt(setAside), earned, held, ...rows[0]! };
}

const unsettledCountsHours = 24;

/**
 * SQL: calls that have no result, and those whose result is kept because its buyer has not had it. Of the latter one that is not
 * settled counts for `unsettledCountsHours`: by then it is, or no buyer has paid. Without that end any wallet could keep an account from being closed.
 */
const owedCalls = `
       (select count(*) from debts d join agents a on a.id = d.agent_id where a.account_id = $1
          and not exists (select from paid_calls p where p.network = d.network and p.payment_key = d.payment_key
                          and p.output is not null))
       + (select count(*) from paid_calls p join agents a on a.id = p.product where a.account_id = $1
          and p.output is not null and p.delivered_at is null
          and p.created_at > now() - interval '${historyDays} days'
          and (p.transaction_id is not null or p.result_at > now() - interval '${unsettledCountsHours} hours'))`;

/** By the account's holder; anything else is an operator's act. */
export interface ByHolder {
  /** Most credits, spendable, set aside and earned, that they agree to lose. */
  readonly creditsGivenUp: bigint | "all";
}

/**
 * Refuses to close an account that is locked, for its holder and for operators, while runs (of it or of its agents) or purchases are under way; its holder
 * also while buyers of calls that wallets paid for have no result yet, and while more credits are left than were given up. 409.
 */
export function refuseToClose({ handle }: Account, closing: Closing, byHolder?: ByHolder): void {
  const { credits, earned, runs_under_way: runs, calls_owed: owed, purchases_under_way: bought } = closing;
  if (byHolder && owed > 0) {
    const buyers = owed === 1 ? "The buyer of 1 paid call has" : `The buyers of ${owed} paid calls have`;
    throw new ApiError("conflict", `${buyers} no result yet and can still fetch it. Then the account can be closed.`);
  }
  if (bought > 0)
    throw new ApiError("conflict", "Credits that were bought are on their way. Close when they have come.");
  const left = credits + earned;
  if (byHolder) refuseToLose(left, byHolder);
  if (runs > 0) {
    throw new ApiError(
      "conflict",
      `"${handle}" has runs under way, of its own or of its agents. They end within minutes.`,
    );
  }
}

/** Credits may have come since their holder looked. */
function refuseToLose(left: bigint, { creditsGivenUp: most }: ByHolder): void {
  if (most === "all" || left <= most) return;
  const said =
    most === 0n ? '; close with "give_up_credits" to lose them' : ` now, and you gave up ${most}: look again`;
  throw new ApiError("conflict", `There are ${left} credits left${said}.`);
}

/** Whether the account cannot be closed now, even with its credits given up. */
export function isInTheWay({ runs_under_way: runs, calls_owed: owed, purchases_under_way: bought }: Closing): boolean {
  return runs + owed + bought > 0;
}
