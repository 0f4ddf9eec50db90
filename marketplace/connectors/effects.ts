import {
  type Database,
  inTransaction,
  isUniqueViolation,
  type Queryable,
  type Transaction,
} from "../../shared/postgres.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import { ConnectorFailure, type Result } from "./connector.ts";

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
   * Writes an effect down, together with the reward it pays. Throws ConnectorFailure, and writes nothing, when it would
   * go over the day's cap or the budget, or when the post or its author has been rewarded.
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

  /** Within one agent effects are written one after the other, so that two never both fit under a cap. */
  async #write(effect: NewEffect, write: (tx: Transaction) => Promise<void>): Promise<void> {
    try {
      await inTransaction(this.#db, async (tx) => {
        await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`effects of ${effect.agentId}`]);
        await refuseOverCap(tx, effect);
        await write(tx);
        if (effect.reward) await claimReward(tx, effect, effect.reward);
      });
    } catch (error) {
      if (isUniqueViolation(error, "rewards_once_per_post")) {
        throw new ConnectorFailure("This post has been rewarded already.");
      }
      if (isUniqueViolation(error, "rewards_once_per_author")) {
        throw new ConnectorFailure("The author of this post has been rewarded already.");
      }
      throw error;
    }
  }
}

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

export interface NewEffect {
  readonly key: string;
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly network?: string;
  readonly transactionIds?: readonly string[];
  readonly validUntil?: Date;
  readonly asset: string | undefined;
  /** Base units of the asset; 0 where nothing is spent. */
  readonly amount: bigint;
  /** The most the agent may spend of the asset in 24 hours. */
  readonly dayMax: bigint | undefined;
  readonly promised: Promised;
  readonly reward?: NewReward;
}

export interface NewReward {
  readonly postId: string;
  readonly authorId: string;
  readonly username: string;
  /** A ledger account, or the account that gets credits. */
  readonly recipient: string;
  /** The most the agent pays in rewards, ever. */
  readonly budget: bigint;
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

async function refuseOverCap(tx: Transaction, { key, agentId, asset, amount, dayMax }: NewEffect): Promise<void> {
  if (dayMax === undefined || asset === undefined) return;
  const { rows } = await tx.query<{ spent: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as spent from effects
     where agent_id = $1 and asset = $2 and key <> $3 and state <> 'void' and created_at > now() - interval '24 hours'`,
    [agentId, asset, key],
  );
  if (BigInt(rows[0]!.spent) + amount > dayMax) {
    throw new ConnectorFailure("The agent has reached what it may spend in a day; try again tomorrow.");
  }
}

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

async function claimReward(tx: Transaction, effect: NewEffect, reward: NewReward): Promise<void> {
  const { rows } = await tx.query<{ paid: bigint }>(
    "select coalesce(sum(amount), 0)::bigint as paid from rewards where agent_id = $1 and asset = $2 and state <> 'void'",
    [effect.agentId, effect.asset],
  );
  if (BigInt(rows[0]!.paid) + effect.amount > reward.budget) {
    throw new ConnectorFailure("The budget for these rewards is used up.");
  }
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
