import { type Database, inTransaction, isUniqueViolation, type Transaction } from "../../shared/postgres.ts";
import type { AgentId, RunId } from "../ids.ts";
import { notNow, RefusalError } from "./refusal.ts";
import { reserve, type Spending } from "./reservations.ts";
import type { Result } from "./result.ts";

/**
 * The side-effect journal: acts of runs that cannot be undone. A row is written before anything is sent and says what is
 * sent. The run closes it when it learns the outcome; after a crash the recovery job does.
 */
export class SideEffectJournal {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async find(key: string): Promise<SideEffect | undefined> {
    const { rows } = await this.#db.query<SideEffect>({
      name: "find effect",
      text: `${select} where key = $1`,
      values: [key],
    });
    return rows[0];
  }

  /** The side effect that a run began; undefined when it began none. */
  async findOfRun(runId: RunId): Promise<SideEffect | undefined> {
    const { rows } = await this.#db.query<SideEffect>(`${select} where run_id = $1`, [runId]);
    return rows[0];
  }

  /** Side effects on a network that no run waits for any more, and that the chain must have decided on by now. */
  async findOverdue(network: string, limit: number): Promise<SideEffect[]> {
    const { rows } = await this.#db.query<SideEffect>(
      `${select} where state = 'open' and network = $1 and valid_until < now() - interval '2 minutes'
       order by valid_until limit $2`,
      [network, limit],
    );
    return rows;
  }

  /**
   * Writes a side effect down, together with the reward it pays, in place of its reservation. Throws RefusalError, and
   * writes nothing, when it would exceed what other runs' reservations leave, or when the post or its author has been
   * rewarded. RefusalError, too, when another copy has ended the run meanwhile, or begun its effect.
   */
  async begin(effect: NewSideEffect): Promise<void> {
    await this.#write(effect, (tx) => insert(tx, effect, "open"));
  }

  /** Does a side effect inside the database, in one transaction with writing it down. */
  async doHere(effect: NewSideEffect, result: Result, act: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#write(effect, async (tx) => {
      await insert(tx, effect, "done", result);
      await act(tx);
    });
  }

  /**
   * Closes an open side effect with its outcome; a closed one stays as it is. So does another attempt under its key: a copy that
   * asked the chain about an earlier one may hear of its end late.
   */
  async close({ key, transactionIds }: Attempt, outcome: { done: Result } | { done?: undefined }): Promise<void> {
    const { done } = outcome;
    await this.#db.query(
      `with closed as (
         update effects set state = $2, output = $3, receipt = $4, updated_at = now()
         where key = $1 and state = 'open' and transaction_ids = $6 returning key
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
        transactionIds,
      ],
    );
  }

  async #write(effect: NewSideEffect, write: (tx: Transaction) => Promise<void>): Promise<void> {
    try {
      await inTransaction(this.#db, async (tx) => {
        await requireStillRunning(tx, effect.runId);
        await reserve(tx, effect.key, effect.agentId, effect, beginMs);
        await write(tx);
        if (effect.reward) await claimReward(tx, effect, effect.reward);
        // From now on the side effect itself is counted. What it takes on a chain stays reserved until the chain shows it.
        await tx.query("delete from reservations where holder = $1 and not on_ledger", [effect.key]);
      });
    } catch (error) {
      if (isUniqueViolation(error, "rewards_once_per_post")) {
        throw new RefusalError("conflict", "This post has been rewarded already.");
      }
      if (isUniqueViolation(error, "rewards_once_per_author")) {
        throw new RefusalError("conflict", "The author of this post has been rewarded already.");
      }
      throw error;
    }
  }
}

/**
 * The end of a run and the beginning of its side effect exclude each other: credits that were given back must not have bought
 * anything. The lease is moved on because a copy that is just about to end the run for its lapsed lease looks at it again
 * once it has the row, and on its next round finds the effect. A creator's trial run and some calls paid per call have no row.
 */
async function requireStillRunning(tx: Transaction, runId: RunId): Promise<void> {
  const { rowCount } = await tx.query(
    `update runs set lease_until = greatest(lease_until, now() + interval '5 s') where id = $1 and state = 'running'`,
    [runId],
  );
  if (rowCount === 1) return;
  const { rows } = await tx.query("select state from runs where id = $1", [runId]);
  if (rows[0]) throw interrupted(`the run ${runId} has been ended by another copy: ${rows[0].state}`);
}

/** This copy has stood still for longer than its lease, and another has gone on: trying again tells what came of it. */
function interrupted(reason: string): RefusalError {
  return notNow("The run was interrupted; try again shortly.", 5, reason);
}

/** Within this a side effect is written down. */
const beginMs = 60_000;

export interface SideEffect {
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

type Attempt = Pick<SideEffect, "key" | "transactionIds">;

/** The kind of transaction, and the part of its receipt that is known before; the chain's answer is added to it. */
export interface Promised {
  readonly kind: "message" | "mint" | "transfer" | "credits";
  readonly receipt: Readonly<Record<string, unknown>>;
}

export interface NewSideEffect extends Spending {
  readonly key: string;
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly network?: string;
  readonly transactionIds?: readonly string[];
  readonly validUntil?: Date;
  readonly promised: Promised;
}

const select = `
  select key, run_id as "runId", network, transaction_ids as "transactionIds", valid_until as "validUntil", state,
    promised, output, receipt
  from effects`;

/** A side effect that is void (it certainly did not happen) is replaced by the next attempt under its key. */
async function insert(tx: Transaction, effect: NewSideEffect, state: "open" | "done", result?: Result): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into effects as old (key, run_id, agent_id, network, transaction_ids, valid_until, asset, amount, state,
                                 promised, output, receipt, fee, fee_open)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
     on conflict (key) do update set run_id = $2, transaction_ids = $5, valid_until = $6, asset = $7, amount = $8,
       state = $9, promised = $10, output = $11, receipt = $12, fee = old.fee + $13, fee_open = $13,
       created_at = now(), updated_at = now()
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
      effect.fees?.most ?? 0n,
    ],
  );
  if (rowCount !== 1) throw interrupted(`the effect ${effect.key} has been begun already`);
}

async function claimReward(
  tx: Transaction,
  effect: NewSideEffect,
  reward: NonNullable<NewSideEffect["reward"]>,
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
