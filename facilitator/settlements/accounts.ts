import { getAddress, isAddress } from "viem/utils";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Environment } from "../../shared/networks.ts";
import type { Queryable } from "../../shared/postgres.ts";

/** What the public record says of one account: of settled payments, over all networks of an environment. */
export interface AccountRecord {
  readonly account: string;
  readonly paid: number;
  readonly paidVolume: bigint;
  readonly payees: number;
  readonly received: number;
  readonly receivedVolume: bigint;
  readonly payers: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** By the rule in self-payments.ts. */
  readonly isSelfPayer: boolean;
}

/** The other side of an account's payments. */
export interface Counterparty {
  readonly account: string;
  readonly settlements: number;
  readonly volume: bigint;
}

export async function accountRecord(
  db: Queryable,
  env: Environment,
  account: string,
): Promise<AccountRecord | undefined> {
  const { rows } = await db.query({
    name: "account-record",
    text: `select account, paid, paid_volume, payees, received, received_volume, payers, first_at, last_at, is_self_payer
             from accounts where env = $1 and account = any($2) order by last_at desc limit 1`,
    values: [env, spellingsOf(account)],
  });
  const row = rows[0];
  if (!row) return undefined;
  return {
    account: row.account,
    paid: toSafeNumber(row.paid),
    paidVolume: row.paid_volume,
    payees: toSafeNumber(row.payees),
    received: toSafeNumber(row.received),
    receivedVolume: row.received_volume,
    payers: toSafeNumber(row.payers),
    firstAt: row.first_at,
    lastAt: row.last_at,
    isSelfPayer: row.is_self_payer,
  };
}

/** The accounts that an account paid most often, or that paid it most often; ten at most. An account that paid thousands is not sorted: any ten. */
export async function counterparties(
  db: Queryable,
  { env, account, side }: { env: Environment; account: string; side: "payees" | "payers" },
): Promise<readonly Counterparty[]> {
  const text =
    side === "payers"
      ? // By spelling, since the index has an order within one only: all payers of a payee would be sorted otherwise.
        `select payer as account, settlements, volume_atomic
           from unnest($2::text[]) as spelled cross join lateral
             (select * from paid_pairs where env = $1 and pay_to = spelled order by settlements desc limit 10) as paid
          order by settlements desc limit 10`
      : `select pay_to as account, settlements, volume_atomic
           from (select * from paid_pairs where env = $1 and payer = any($2) limit 5000) as paid
          order by settlements desc limit 10`;
  const { rows } = await db.query({ name: `counterparties-${side}`, text, values: [env, spellingsOf(account)] });
  return rows.map((row) => ({
    account: row.account,
    settlements: toSafeNumber(row.settlements),
    volume: row.volume_atomic,
  }));
}

/** An EVM address as it was written and as the record writes it; anything else as it is. */
export function spellingsOf(account: string): readonly string[] {
  return isAddress(account, { strict: false }) ? [...new Set([getAddress(account), account])] : [account];
}
