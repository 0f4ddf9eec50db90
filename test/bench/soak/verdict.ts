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

/**
 * What the ledger's mirror has shown of each payment that moved. To be asked before the ledger is restarted, which makes
 * it forget all but its newest transactions.
 */
export class LedgerWitness {
  readonly #seen = new Set<string>();
  readonly #world: World;
  readonly #db: Database;

  constructor(world: World, db: Database) {
    this.#world = world;
    this.#db = db;
  }

  /** The keys of all payments seen to have moved. */
  async look(): Promise<ReadonlySet<string>> {
    const { rows } = await this.#db.query("select payment_key as key from payments where network = 'hedera:testnet'");
    for (const { key } of rows) {
      if (this.#seen.has(key)) continue;
      const path = key.replace("@", "-").replace(/\.(\d+)$/, "-$1");
      const response = await fetch(`${this.#world.ledger.mirror}/api/v1/transactions/${path}`);
      const { transactions = [] } = (await response.json()) as { transactions?: Array<{ result: string }> };
      if (transactions.some(({ result }) => result === "SUCCESS")) this.#seen.add(key);
    }
    return this.#seen;
  }
}

/** By the token's own events, and by the ledger's mirror; what the payees hold must add up to the same. */
export async function readTruth({ chain, terms, ledger }: World, witness: LedgerWitness): Promise<Truth> {
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

  const onLedger = await witness.look();
  for (const key of onLedger) truth.set(key, [key]);
  const { accountId } = ledger.accounts.creator;
  const held = await fetch(`${ledger.mirror}/api/v1/accounts/${accountId}/tokens?token.id=${ledger.usdc}`);
  const { tokens } = (await held.json()) as { tokens: [{ balance: number }] };
  if (BigInt(tokens[0].balance) !== BigInt(onLedger.size) * price) {
    throw new Error(`Hedera: ${onLedger.size} moved, the payee has ${tokens[0].balance}`);
  }
  return truth;
}
