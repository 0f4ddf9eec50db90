import { ApiError } from "../../shared/errors.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import { readBalances } from "../credits/balance.ts";
import type { Account } from "./create.ts";
import { moveAccount } from "./state.ts";

/** What closing the account would end, what of it would be lost, and what stands in its way. */
export interface Closing {
  readonly credits: bigint;
  readonly earned: bigint;
  /** Held for runs under way. */
  readonly held: bigint;
  readonly runs_under_way: number;
  /** Calls of its agents that wallets paid for and that have no result yet. */
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
  const [balance] = await readBalances(db, [id]);
  const { rows } = await db.query<Omit<Closing, "credits" | "earned" | "held">>(
    `select (select count(*) from runs where account_id = $1 and state = 'running')::integer as runs_under_way,
       (select count(*) from debts d join agents a on a.id = d.agent_id where a.account_id = $1
          and not exists (select from paid_calls p where p.network = d.network and p.payment_key = d.payment_key
                          and p.output is not null))::integer as calls_owed,
       -- The proof of a payment is kept until the payment has come to its end.
       (select count(*) from paid_calls where proof is not null and product like 'credits:' || $1 || ':%'
          and output is null)::integer as purchases_under_way,
       (select count(*) from agents where account_id = $1 and state = 'live')::integer as live_agents,
       (select count(*) from agent_drafts where account_id = $1)::integer as drafts,
       (select count(*) from api_keys where account_id = $1 and revoked_at is null)::integer as keys,
       (select count(*) from payout_wallets where account_id = $1 and state <> 'retired')::integer as wallets`,
    [id],
  );
  const { credits, earned, held } = balance!;
  return { credits, earned, held, ...rows[0]! };
}

/**
 * Closes an account for its holder, for good. Its own handle is asked for, to be sure. 422 for another; 409 while credits are left
 * that were not given up, while runs are under way, and while a wallet's payment is.
 */
export async function closeOwnAccount(db: Database, account: Account, asked: AskedClosing): Promise<Account> {
  if (asked.handle.trim().toLowerCase() !== account.handle) {
    throw new ApiError("invalid_value", '"handle" must be the account\'s own, to be sure.', {
      body: { field: "handle" },
    });
  }
  refuseWhilePaid(await readClosing(db, account));
  return moveAccount(db, account, "close", { unlessCredits: !asked.givesUpCredits });
}

interface AskedClosing {
  readonly handle: string;
  readonly givesUpCredits: boolean;
}

/**
 * Refuses to close while a wallet's money is on its way: what wallets paid for is delivered first, and what the holder bought is
 * credited first. 409.
 */
function refuseWhilePaid({ calls_owed: owed, purchases_under_way: bought }: Closing): void {
  if (owed > 0) {
    const calls = owed === 1 ? "1 paid call has" : `${owed} paid calls have`;
    throw new ApiError(
      "conflict",
      `${calls} no result yet: a buyer can still fetch it. Then the account can be closed.`,
    );
  }
  if (bought > 0)
    throw new ApiError("conflict", "Credits that you bought are on their way. Close when they have come.");
}

/** Whether it could be closed now, credits given up. */
export function isInTheWay({ runs_under_way: runs, calls_owed: owed, purchases_under_way: bought }: Closing): boolean {
  return runs + owed + bought > 0;
}
