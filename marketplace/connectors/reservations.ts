import type { Database, Queryable } from "../../shared/postgres.ts";
import type { Events } from "../events.ts";
import type { AccountId, AgentId } from "../ids.ts";
import { notNow, Refusal } from "./refusal.ts";

/**
 * What paid calls will take of what can run out, set aside before anybody pays: over all copies of the service exactly as
 * many get past as there is room. A reservation ends when the effect it was made for is written down, when it is given
 * back, or when its lease lapses, because the copy that held it died; what has lapsed is given to nobody twice, since the
 * effect asks for its room again.
 */
export class Reservations {
  readonly #held = new Set<string>();
  readonly #db: Database;
  readonly #leaseMs: number;
  readonly #events: Events;
  readonly #timer: NodeJS.Timeout;

  constructor({ db, leaseMs, events }: { db: Database; leaseMs: number; events: Events }) {
    this.#db = db;
    this.#leaseMs = leaseMs;
    this.#events = events;
    this.#timer = setInterval(() => void this.#extend(), leaseMs / 4);
    this.#timer.unref();
  }

  /** Takes all that the effect `key` will spend, and keeps it until `end`. Throws Refusal, and takes nothing, where it is not to be had. */
  async take(key: string, agentId: AgentId, spending: Spending): Promise<void> {
    await reserve(this.#db, key, agentId, spending, this.#leaseMs);
    this.#held.add(key);
  }

  /** Stops extending: what was not used is given back at once, or after `lapseMs` where somebody may yet come for it. */
  async end(key: string, { lapseMs = 0 } = {}): Promise<void> {
    if (!this.#held.delete(key)) return;
    const text =
      lapseMs === 0
        ? `delete from reservations r where holder = $1 and spent_at is null
             and not exists (select from effects e where e.key = r.holder and e.state = 'open')`
        : "update reservations set until = now() + $2::integer * interval '1 ms' where holder = $1 and until > now()";
    // Where the database is away it lapses.
    await this.#db.query(text, lapseMs === 0 ? [key] : [key, lapseMs]).catch((error) => this.#notExtended(error));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One that lapsed while this process stood still may be another's by now, and stays lapsed. */
  async #extend(): Promise<void> {
    if (this.#held.size === 0) return;
    await this.#db
      .query(
        `update reservations set until = now() + $2::integer * interval '1 ms'
         where holder = any($1) and until > now() and spent_at is null`,
        [[...this.#held], this.#leaseMs],
      )
      .catch((error) => this.#notExtended(error));
  }

  #notExtended(error: unknown): void {
    this.#events.leasesNotExtended({ error });
  }
}

/** What an effect takes of what can run out. */
export interface Spending {
  readonly asset: string | undefined;
  /** Base units of the asset; 0 where nothing is spent. */
  readonly amount: bigint;
  /** The most the agent may spend of the asset in 24 hours. */
  readonly dayMax: bigint | undefined;
  readonly reward?: NewReward;
  /** Where on a ledger it comes from. */
  readonly pools?: readonly LedgerPool[];
  /** Whose credits it spends. */
  readonly creditsOf?: AccountId;
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

/** What a ledger has left of something that several agents may draw on, as it was at `measuredAt` or later. */
export interface LedgerPool {
  readonly name: string;
  readonly room: bigint;
  readonly measuredAt: Date;
}

/** Throws Refusal unless there is room for all of it, beside what others have reserved. One statement. */
export async function reserve(
  db: Queryable,
  key: string,
  agentId: AgentId,
  spending: Spending,
  leaseMs: number,
): Promise<void> {
  const claims = claimsOf(agentId, spending);
  if (claims.length === 0) return;
  const { rows } = await db.query<{ kind: Claim["kind"]; used_up: boolean }>({
    name: "reserve",
    text: "select kind, used_up from reserve($1, $2, $3)",
    values: [key, leaseMs, JSON.stringify(claims)],
  });
  if (rows[0]) throw refusalOf(rows[0].kind, rows[0].used_up);
}

interface Claim {
  readonly kind: "day" | "budget" | "post" | "author" | "credits" | "ledger";
  readonly pool: string;
  readonly agent: AgentId;
  readonly asset?: string | undefined;
  readonly subject?: string;
  readonly amount: string;
  readonly room?: string;
  readonly measured_at?: Date;
}

function claimsOf(agent: AgentId, { asset, amount, dayMax, reward, pools = [], creditsOf }: Spending): Claim[] {
  const units = amount.toString();
  const claims: Claim[] = [];
  const add = (kind: Claim["kind"], pool: string, more: Omit<Claim, "kind" | "pool" | "agent">) =>
    claims.push({ kind, pool, agent, ...more });
  if (dayMax !== undefined) add("day", `day ${agent} ${asset}`, { asset, amount: units, room: dayMax.toString() });
  if (reward) {
    const { postId, authorId, budget } = reward;
    add("budget", `budget ${agent} ${asset}`, { asset, amount: units, room: budget.toString() });
    add("post", `post ${agent} ${postId}`, { subject: postId, amount: "1", room: "1" });
    add("author", `author ${agent} ${authorId}`, { subject: authorId, amount: "1", room: "1" });
  }
  if (creditsOf !== undefined) add("credits", `credits ${creditsOf}`, { subject: creditsOf, amount: units });
  for (const { name, room, measuredAt } of pools) {
    add("ledger", name, { amount: units, room: room.toString(), measured_at: measuredAt });
  }
  return claims;
}

function refusalOf(kind: Claim["kind"], usedUp: boolean): Refusal {
  if (!usedUp)
    return notNow("Others are just being served with what is left; try again in a moment.", othersEndSeconds);
  switch (kind) {
    case "day":
      return notNow("The agent has reached what it may spend in a day; try again tomorrow.", 3_600);
    case "budget":
      return new Refusal("conflict", "The budget for these rewards is used up.");
    case "post":
      return new Refusal("conflict", "This post has been rewarded already.");
    case "author":
      return new Refusal("conflict", "The author of this post has been rewarded already.");
    case "credits":
      return notNow("The creator's balance does not cover the reward.", 600);
    case "ledger":
      return notNow("What the creator has set aside for this on the ledger is used up.", 600);
  }
}

const othersEndSeconds = 15;
