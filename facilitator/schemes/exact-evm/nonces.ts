import { type Database, inTransaction, type Queryable, type Transaction } from "../../../shared/postgres.ts";
import { amongUnfinished, inStates, sentStates } from "../../payment-states.ts";
import type { EvmChain } from "./chain.ts";
import { RpcError } from "./rpc.ts";

interface KnownNonces {
  readonly next: bigint;
  /** Given back while later ones were out; in order. */
  readonly vacant: readonly bigint[];
}

export interface LockedNonces {
  next(): bigint;
  take(): void;
  save(): Promise<void>;
}

/**
 * The nonces of one address, shared by every daemon through `signer_nonces`: the next one, and those that were given back
 * while later ones were already out.
 */
export class Nonces {
  readonly #db: Database;
  readonly #network: string;
  readonly #address: string;
  /** The nonces as this copy last saw or left them. They may be old: the row decides. */
  #known: KnownNonces | undefined;

  constructor(db: Database, network: string, address: string) {
    this.#db = db;
    this.#network = network;
    this.#address = address;
  }

  /** The nonces that the next transactions will have, unless another copy is before us. */
  async expected(count: number): Promise<readonly bigint[]> {
    const known = this.#known ?? (await this.#read(this.#db, "read-signer", ""));
    const free = known.vacant.slice(0, count);
    return [...free, ...Array.from({ length: count - free.length }, (_, index) => known.next + BigInt(index))];
  }

  /** Locks the address' nonces until `tx` ends; `take` gives out the one that is `next`, `save` stores what is left. */
  async lock(tx: Transaction): Promise<LockedNonces> {
    let { next, vacant } = await this.#read(tx, "lock-signer", "for update");
    const note = () => {
      this.#known = { next, vacant };
    };
    note();
    return {
      next: () => vacant[0] ?? next,
      take: () => {
        if (vacant.length > 0) vacant = vacant.slice(1);
        else next += 1n;
      },
      save: async () => {
        await tx.query({
          name: "advance-signer",
          text: "update signer_nonces set next_nonce = $3, vacant = $4 where network = $1 and address = $2",
          values: [this.#network, this.#address, next, vacant],
        });
        note();
      },
    };
  }

  async #read(db: Queryable, name: string, locking: "" | "for update"): Promise<KnownNonces> {
    const { rows } = await db.query({
      name,
      text: `select next_nonce, vacant from signer_nonces where network = $1 and address = $2 ${locking}`,
      values: [this.#network, this.#address],
    });
    const { next_nonce: next, vacant } = rows[0] as { next_nonce: bigint; vacant: readonly (bigint | string)[] };
    return { next, vacant: vacant.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1)) };
  }

  /** What was signed with `nonce` was certainly not sent: another transaction may have it. */
  async giveBack(nonce: bigint, db: Queryable = this.#db): Promise<void> {
    this.#known = undefined;
    await db.query(
      `update signer_nonces
          set next_nonce = case when next_nonce = $3 + 1 then $3 else next_nonce end,
              vacant = case when next_nonce = $3 + 1 then vacant else array_append(vacant, $3) end
        where network = $1 and address = $2`,
      [this.#network, this.#address, nonce],
    );
  }

  /**
   * Agrees on the next nonce with the chain. Settlements that the chain does not know any more (a reorganisation) are sent again
   * from the stored bytes; payments under way are not, for their senders alone know what the node has refused and is taken
   * back. The next nonce goes back down to the chain's count only when no payment of this address is under way and no copy has
   * taken a nonce since the chain was asked, as on a development chain that began anew.
   */
  async synchronize(chain: EvmChain): Promise<void> {
    await this.#sendMissing(chain);
    const before = await this.#stored(this.#db, "");
    const pending = await chain.transactionCount(this.#address, "pending");
    this.#known = undefined;
    await inTransaction(this.#db, async (tx) => {
      // Locked first: the next statement then sees what the copy that had the lock has stored.
      const isAsBefore = (await this.#stored(tx, "for update")) === before;
      await tx.query(
        `insert into signer_nonces as known (network, address, next_nonce) values ($1, $2, $3)
         on conflict (network, address) do update
           set (next_nonce, vacant) = (
                 select agreed.next, array(select n from unnest(known.vacant) n where n >= excluded.next_nonce and n < agreed.next)
                   from (select case
                           when not $4 or exists (select from payments
                                         where ${amongUnfinished} and network = $1 and fee_payer = $2 and ${inStates(sentStates)})
                           then greatest(known.next_nonce, excluded.next_nonce) else excluded.next_nonce end) as agreed (next))`,
        [this.#network, this.#address, pending, isAsBefore],
      );
    });
  }

  /** The next nonce on record, if there is one. */
  async #stored(db: Queryable, locking: "" | "for update"): Promise<bigint | undefined> {
    const { rows } = await db.query(
      `select next_nonce from signer_nonces where network = $1 and address = $2 ${locking}`,
      [this.#network, this.#address],
    );
    return rows[0]?.next_nonce;
  }

  async #sendMissing(chain: EvmChain): Promise<void> {
    const pending = await chain.transactionCount(this.#address, "pending");
    const { rows } = await this.#db.query(
      `select raw_transactions from payments
        where network = $1 and fee_payer = $2 and nonce >= $3 and state = 'settled' and raw_transactions is not null
        order by nonce limit 1000`,
      [this.#network, this.#address, pending],
    );
    for (const { raw_transactions: raw } of rows) {
      await chain.send(raw.at(-1)).catch((error) => {
        if (!(error instanceof RpcError)) throw error;
      });
    }
  }
}
