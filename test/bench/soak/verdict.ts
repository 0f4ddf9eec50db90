import { createPublicClient, http, parseAbiItem } from "viem";
import type { Database } from "../../../shared/postgres.ts";
import type { Asked } from "./customers.ts";
import { price } from "./payments.ts";
import type { World } from "./world.ts";

/** What the chains say of every payment that moved: by its key, the transactions that moved it. */
export type Truth = ReadonlyMap<string, readonly string[]>;

/** Everything in which answers, records and chains do not agree; empty is as it must be. */
export function disagreements(asked: readonly Asked[], rows: readonly PaymentRow[], truth: Truth): readonly string[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const problems: string[] = [];
  for (const { key, answers } of asked) {
    const row = known.get(key);
    const moved = truth.get(key) ?? [];
    const successes = answers.filter(({ success }) => success);
    const say = (what: string) => problems.push(`${key}: ${what}; recorded ${row?.state ?? "nothing"}, moved ${moved}`);
    if (moved.length > 1) say("moved more than once");
    if (successes.length > 1) say(`${successes.length} callers were told of its success`);
    if (row && row.state !== "settled" && row.state !== "failed") say("has no final state");
    if (moved.length === 1 && row?.state !== "settled") say("moved and is not settled");
    if (row?.state === "settled" && moved.length === 0) say("is settled and did not move");
    if (row?.state === "settled" && moved[0] && moved[0] !== row.transaction) say(`is recorded as ${row.transaction}`);
    if (row?.state === "settled" && row.settledRecords !== 1)
      say(`has ${row.settledRecords} public records of success`);
    const told = answers.filter(({ success, reason }) => success || reason === "already_settled");
    for (const { transaction } of told) {
      if (row?.state !== "settled" || transaction !== row.transaction) say(`was said to be settled in ${transaction}`);
    }
  }
  const ours = new Set(asked.map(({ key }) => key));
  for (const key of truth.keys()) if (!ours.has(key)) problems.push(`${key}: moved and nobody asked for it`);
  return problems;
}

export interface PaymentRow {
  readonly key: string;
  readonly network: string;
  readonly state: string;
  readonly transaction: string | null;
  /** Records of its success in the public list. */
  readonly settledRecords: number;
}

export async function readPayments(db: Database): Promise<readonly PaymentRow[]> {
  const { rows } = await db.query(`
    select p.payment_key as key, p.network, p.state, p.transaction_id as transaction,
           (select count(*)::int from transactions t
             where t.network = p.network and t.status = 'settled' and t.tx_id = p.transaction_id) as "settledRecords"
      from payments p`);
  return rows;
}

/** By the token's own events, and by the ledger's mirror; what the payees hold must add up to the same. */
export async function readTruth({ chain, terms, ledger }: World, rows: readonly PaymentRow[]): Promise<Truth> {
  const truth = new Map<string, string[]>();
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const used = await client.getLogs({
    address: chain.usdc,
    event: parseAbiItem("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"),
    fromBlock: 0n,
  });
  for (const { args, transactionHash } of used) {
    const key = `${chain.usdc}:${args.authorizer}:${args.nonce}`.toLowerCase();
    truth.set(key, [...(truth.get(key) ?? []), transactionHash]);
  }
  const { usdc: evmCredit } = await chain.balances(terms.payTo as `0x${string}`);
  if (evmCredit !== BigInt(truth.size) * price) throw new Error(`EVM: ${truth.size} moved, the payee has ${evmCredit}`);

  let onLedger = 0n;
  for (const { key, network } of rows) {
    if (network !== "hedera:testnet") continue;
    const path = key.replace("@", "-").replace(/\.(\d+)$/, "-$1");
    const response = await fetch(`${ledger.mirror}/api/v1/transactions/${path}`);
    const { transactions = [] } = (await response.json()) as { transactions?: Array<{ result: string }> };
    const moved = transactions.filter(({ result }) => result === "SUCCESS");
    onLedger += BigInt(moved.length);
    if (moved.length > 0)
      truth.set(
        key,
        moved.map(() => key),
      );
  }
  const { accountId } = ledger.accounts.creator;
  const held = await fetch(`${ledger.mirror}/api/v1/accounts/${accountId}/tokens?token.id=${ledger.usdc}`);
  const { tokens } = (await held.json()) as { tokens: [{ balance: number }] };
  if (BigInt(tokens[0].balance) !== onLedger * price) {
    throw new Error(`Hedera: ${onLedger} moved, the payee has ${tokens[0].balance}`);
  }
  return truth;
}
