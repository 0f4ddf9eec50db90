import type { Database, Queryable } from "../../shared/postgres.ts";
import type { Events } from "../events.ts";
import type { AccountId, AgentId } from "../ids.ts";
import { notNow, otherActsSeconds, RefusalError } from "./refusal.ts";

/**
 * What paid calls will use of something that can run out, set aside before the buyer pays: over all copies of the service
 * exactly as many calls pass as there is room for. A reservation ends when its side effect is written down, when it is
 * given back, or when its lease lapses because the copy that held it died. After a lapse nothing is used twice, since the
 * side effect asks for its room again.
 */
export class Reservations {
  readonly #held = new Set<string>();
  readonly #db: Database;
  readonly #leaseMs: number;
  readonly #events: Events;

  constructor({ db, leaseMs, events }: { db: Database; leaseMs: number; events: Events }) {
    this.#db = db;
    this.#leaseMs = leaseMs;
    this.#events = events;
  }

  /**
   * Takes all that the effect `key` will spend, and keeps it until `end`. Throws RefusalError, and takes nothing, where it is not
   * to be had.
   */
  async take(key: string, agentId: AgentId, spending: Spending): Promise<void> {
    await reserve(this.#db, key, agentId, spending, this.#leaseMs);
    this.#held.add(key);
  }

  /**
   * Says until `end` that `key` is about to start what `name` stands for: a caller who asks for the same and is refused may have been
   * refused because of it.
   */
  async announce(key: string, name: string): Promise<void> {
    const until = "clock_timestamp() + $3::integer * interval '1 ms'";
    await this.#db.query({
      name: "announce",
      text: `insert into reservations (holder, pool, amount, on_ledger, until) values ($1, $2, 1, false, ${until})`,
      values: [key, poolOf(name), this.#leaseMs],
    });
    this.#held.add(key);
  }

  async isAnnounced(name: string): Promise<boolean> {
    const { rows } = await this.#db.query<{ announced: boolean }>(
      "select exists (select from reservations where pool = $1 and until > clock_timestamp()) as announced",
      [poolOf(name)],
    );
    return rows[0]!.announced;
  }

  /** Stops extending: what was not used is given back at once, or after `lapseMs` where the buyer may yet repeat the call. */
  async end(key: string, { lapseMs = 0 } = {}): Promise<void> {
    if (!this.#held.delete(key)) return;
    const ended = lapseMs === 0 ? this.#db.query(giveBack, [key]) : this.#db.query(lapseLater, [key, lapseMs]);
    // Where the database is away it lapses.
    await ended.catch((error) => this.#notExtended(error));
  }

  /**
   * To be called several times in a lease (jobs.ts). A reservation that lapsed while this process stood still may be
   * another's by now, and stays lapsed. One that is locked, while its effect is written down, has a lease from there; waiting for
   * its rows in another order would be a deadlock.
   */
  async extend(): Promise<void> {
    if (this.#held.size === 0) return;
    await this.#db
      .query(
        `update reservations set until = now() + $2::integer * interval '1 ms'
         where (holder, pool) in (select holder, pool from reservations
                                   where holder = any($1) and until > now() and spent_at is null
                                     for no key update skip locked)`,
        [[...this.#held], this.#leaseMs],
      )
      .catch((error) => this.#notExtended(error));
  }

  #notExtended(error: unknown): void {
    this.#events.leasesNotExtended({ error });
  }
}

const poolOf = (name: string) => `start ${name}`;
const giveBack = `
  delete from reservations r where holder = $1 and spent_at is null
     and not exists (select from effects e where e.key = r.holder and e.state = 'open')`;
const lapseLater = `
  update reservations set until = now() + $2::integer * interval '1 ms' where holder = $1 and until > now()`;

/** The limited things that an effect uses up. */
export interface Spending {
  readonly asset: string | undefined;
  /** Base units of the asset; 0 where nothing is spent. */
  readonly amount: bigint;
  /** The most the agent may spend of the asset in 24 hours. */
  readonly dayMax: bigint | undefined;
  readonly reward?: NewReward;
  /** Where on a chain it comes from. */
  readonly pools?: readonly ChainPool[];
  /** The account whose credits it spends. */
  readonly creditsOf?: AccountId;
  /** What it may cost the operator's account on a chain. */
  readonly fees?: ChainFees | undefined;
}

export interface ChainFees {
  /** CAIP-2. */
  readonly network: string;
  /** The agent's owner. */
  readonly creator: AccountId;
  /** At most, in the chain's smallest units. */
  readonly most: bigint;
  /** What the operator pays in 24 hours: for all creators, for each. */
  readonly dayMax: bigint;
  readonly creatorDayMax: bigint;
}

export interface NewReward {
  readonly postId: string;
  readonly authorId: string;
  readonly username: string;
  /** An account on the chain, or the marketplace account that gets credits. */
  readonly recipient: string;
  /** The most the agent pays in rewards, ever. */
  readonly budget: bigint;
}

/** What a chain has left of something that several agents may draw on, as it was at `measuredAt` or later. */
export interface ChainPool {
  readonly name: string;
  readonly room: bigint;
  readonly measuredAt: Date;
}

/** Throws RefusalError unless there is room for all of it, beside what others have reserved. One statement. */
export async function reserve(
  db: Queryable,
  key: string,
  agentId: AgentId,
  spending: Spending,
  leaseMs: number,
): Promise<void> {
  const portions = portionsOf(agentId, spending);
  if (portions.length === 0) return;
  const { rows } = await db.query<{ kind: Portion["kind"]; used_up: boolean }>({
    name: "reserve",
    text: "select kind, used_up from reserve($1, $2, $3)",
    values: [key, leaseMs, JSON.stringify(portions)],
  });
  if (rows[0]) throw refusalOf(rows[0].kind, rows[0].used_up);
}

/** What is reserved of one thing that can run out. */
interface Portion {
  readonly kind: "day" | "budget" | "post" | "author" | "credits" | "ledger" | "fees" | "fees_of";
  readonly pool: string;
  readonly agent: AgentId;
  readonly asset?: string | undefined;
  readonly subject?: string;
  readonly amount: string;
  readonly room?: string;
  readonly measured_at?: Date;
}

function portionsOf(
  agent: AgentId,
  { asset, amount, dayMax, reward, pools = [], creditsOf, fees }: Spending,
): Portion[] {
  const units = amount.toString();
  const portions: Portion[] = [];
  const add = (kind: Portion["kind"], pool: string, more: Omit<Portion, "kind" | "pool" | "agent">) =>
    portions.push({ kind, pool, agent, ...more });
  if (dayMax !== undefined) add("day", `day ${agent} ${asset}`, { asset, amount: units, room: dayMax.toString() });
  if (reward) {
    const { postId, authorId, budget } = reward;
    add("budget", `budget ${agent} ${asset}`, { asset, amount: units, room: budget.toString() });
    add("post", `post ${agent} ${postId}`, { subject: postId, amount: "1", room: "1" });
    add("author", `author ${agent} ${authorId}`, { subject: authorId, amount: "1", room: "1" });
  }
  if (creditsOf !== undefined) add("credits", `credits ${creditsOf}`, { subject: creditsOf, amount: units });
  if (fees) {
    const { network, creator, most, dayMax: all, creatorDayMax: each } = fees;
    const fee = { asset: network, amount: most.toString() };
    add("fees", `fees ${network}`, { ...fee, room: all.toString() });
    add("fees_of", `fees ${network} ${creator}`, { ...fee, subject: creator, room: each.toString() });
  }
  for (const { name, room, measuredAt } of pools) {
    add("ledger", name, { amount: units, room: room.toString(), measured_at: measuredAt });
  }
  return portions;
}

function refusalOf(kind: Portion["kind"], usedUp: boolean): RefusalError {
  if (!usedUp)
    return notNow("Others are just being served with what is left; try again in a moment.", othersEndSeconds);
  switch (kind) {
    case "day":
      return notNow("The agent has reached what it may spend in 24 hours; try again later.", 3_600);
    case "budget":
      return new RefusalError("conflict", "The budget for these rewards is used up.");
    case "post":
      return new RefusalError("conflict", "This post has been rewarded already.");
    case "author":
      return new RefusalError("conflict", "The author of this post has been rewarded already.");
    case "credits":
      return notNow("The creator's balance does not cover the reward.", otherActsSeconds);
    case "fees":
      return notNow(
        "The marketplace has reached what it pays for the chain's transactions in a day.",
        otherActsSeconds,
      );
    case "fees_of":
      return notNow(
        "The creator's agents have reached what the marketplace pays for them on the chain in a day.",
        otherActsSeconds,
      );
    case "ledger":
      return notNow("What the creator has set aside for this on the chain is used up.", otherActsSeconds);
  }
}

const othersEndSeconds = 15;
