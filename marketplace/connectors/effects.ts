import {
  type Database,
  inTransaction,
  isUniqueViolation,
  type Queryable,
  type Transaction,
} from "../../shared/postgres.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { Result } from "./connector.ts";
import { Refusal } from "./refusal.ts";
import { reserve, type Spending } from "./reservations.ts";

/**
 * The book of what runs do that cannot be taken back. A row is written before anything is sent and says what was sent;
 * it is closed by whoever learns the outcome: the run itself, or after a crash the recovery.
 */
export class Effects {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async find(key: string): Promise<Effect | undefined> {
    const { rows } = await this.#db.query<Effect>({
      name: "find effect",
      text: `${select} where key = $1`,
      values: [key],
    });
    return rows[0];
  }

  /** The effect a run began, should it have one. */
  async findOfRun(runId: RunId): Promise<Effect | undefined> {
    const { rows } = await this.#db.query<Effect>(`${select} where run_id = $1`, [runId]);
    return rows[0];
  }

  /** Those that nobody waits for any more and that the ledger must have decided on by now. */
  async findOverdue(limit: number): Promise<Effect[]> {
    const { rows } = await this.#db.query<Effect>(
      `${select} where state = 'open' and valid_until < now() - interval '2 minutes' order by valid_until limit $1`,
      [limit],
    );
    return rows;
  }

  /**
   * Writes an effect down, together with the reward it pays, in place of what was reserved for it. Throws Refusal, and
   * writes nothing, when it would go over what there is or what others have reserved, or when the post or its author has
   * been rewarded.
   */
  async begin(effect: NewEffect): Promise<void> {
    await this.#write(effect, (tx) => insert(tx, effect, "open"));
  }

  /** Does an effect inside the database, in one transaction with writing it down. */
  async doHere(effect: NewEffect, result: Result, act: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#write(effect, async (tx) => {
      await insert(tx, effect, "done", result);
      await act(tx);
    });
  }

  /** Closes an open effect as it turned out; what is closed stays as it is. */
  async close(key: string, outcome: { done: Result } | { done?: undefined }): Promise<void> {
    const { done } = outcome;
    await this.#db.query(
      `with closed as (
         update effects set state = $2, output = $3, receipt = $4, updated_at = now()
         where key = $1 and state = 'open' returning key
       ), spent as (
         update reservations set spent_at = now() from closed where holder = closed.key and $2 = 'done'
       ), given_back as (
         delete from reservations using closed where holder = closed.key and $2 = 'void'
       )
       update rewards set state = $5 from closed where effect_key = closed.key and rewards.state = 'claimed'`,
      [
        key,
        done ? "done" : "void",
        done ? JSON.stringify(done.output) : null,
        done?.receipt ? JSON.stringify(done.receipt) : null,
        done ? "paid" : "void",
      ],
    );
  }

  async #write(effect: NewEffect, write: (tx: Transaction) => Promise<void>): Promise<void> {
    try {
      await inTransaction(this.#db, async (tx) => {
        await reserve(tx, effect.key, effect.agentId, effect, beginMs);
        await write(tx);
        if (effect.reward) await claimReward(tx, effect, effect.reward);
        // The effect itself counts from now on; only of the ledger it cannot be told yet.
        await tx.query("delete from reservations where holder = $1 and not on_ledger", [effect.key]);
      });
    } catch (error) {
      if (isUniqueViolation(error, "rewards_once_per_post")) {
        throw new Refusal("conflict", "This post has been rewarded already.");
      }
      if (isUniqueViolation(error, "rewards_once_per_author")) {
        throw new Refusal("conflict", "The author of this post has been rewarded already.");
      }
      throw error;
    }
  }
}

/** Within this an effect is in the book. */
const beginMs = 60_000;

export interface Effect {
  readonly key: string;
  readonly runId: RunId;
  readonly network: string | null;
  readonly transactionIds: readonly string[];
  readonly validUntil: Date | null;
  readonly state: "open" | "done" | "void";
  readonly promised: Promised;
  readonly output: Result["output"] | null;
  readonly receipt: object | null;
}

/** What kind of transaction it is and what its receipt says anyway; the ledger's answer is added to it. */
export interface Promised {
  readonly kind: "message" | "mint" | "transfer" | "credits";
  readonly receipt: Readonly<Record<string, unknown>>;
}

export interface NewEffect extends Spending {
  readonly key: string;
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly network?: string;
  readonly transactionIds?: readonly string[];
  readonly validUntil?: Date;
  readonly promised: Promised;
}

/** What a creator reads about the rewards of their agents, newest first. */
export async function listRewards(
  db: Queryable,
  ownerId: AccountId,
  page: { limit: number; offset: number },
): Promise<object[]> {
  const { rows } = await db.query(
    `select lower(a.handle || '/' || a.slug) as agent, r.run_id, r.post_id, r.author_id, r.username, r.recipient, r.asset,
       r.amount::text as amount, r.state, e.network, e.transaction_ids[1] as transaction_id, r.created_at
     from rewards r join agents a on a.id = r.agent_id join effects e on e.key = r.effect_key
     where a.account_id = $1 order by r.created_at desc, r.id desc limit $2 offset $3`,
    [ownerId, page.limit, page.offset],
  );
  return rows;
}

const select = `
  select key, run_id as "runId", network, transaction_ids as "transactionIds", valid_until as "validUntil", state,
    promised, output, receipt
  from effects`;

/** An effect that came to nothing makes room for the next attempt under its key. */
async function insert(tx: Transaction, effect: NewEffect, state: "open" | "done", result?: Result): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into effects as old (key, run_id, agent_id, network, transaction_ids, valid_until, asset, amount, state,
                                 promised, output, receipt)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (key) do update set run_id = $2, transaction_ids = $5, valid_until = $6, asset = $7, amount = $8,
       state = $9, promised = $10, output = $11, receipt = $12, created_at = now(), updated_at = now()
       where old.state = 'void' and old.agent_id = $3`,
    [
      effect.key,
      effect.runId,
      effect.agentId,
      effect.network ?? null,
      effect.transactionIds ?? [],
      effect.validUntil ?? null,
      effect.asset ?? null,
      effect.amount,
      state,
      JSON.stringify(effect.promised),
      result ? JSON.stringify(result.output) : null,
      result?.receipt ? JSON.stringify(result.receipt) : null,
    ],
  );
  if (rowCount !== 1) throw new Error(`the effect ${effect.key} has been begun already`);
}

async function claimReward(
  tx: Transaction,
  effect: NewEffect,
  reward: NonNullable<NewEffect["reward"]>,
): Promise<void> {
  await tx.query(
    `insert into rewards (agent_id, effect_key, run_id, post_id, author_id, username, recipient, asset, amount, state)
     select $1, key, $3, $4, $5, $6, $7, $8, $9, case state when 'done' then 'paid' else 'claimed' end
     from effects where key = $2`,
    [
      effect.agentId,
      effect.key,
      effect.runId,
      reward.postId,
      reward.authorId,
      reward.username,
      reward.recipient,
      effect.asset,
      effect.amount,
    ],
  );
}
