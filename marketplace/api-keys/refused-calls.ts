import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { KeyId } from "../ids.ts";

/** Why a call of a key did not begin a run. */
export const refusalReasons = ["rate_limit", "scope", "cap", "max_credits", "balance"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Kinds of refused calls that are told apart, per key and minute; all others are counted by their reason alone. */
const kindsPerKey = 5;
/** Counts that a copy remembers until it writes them down. */
const countedMax = 10_000;
/** Rows kept of a key, the newest. */
const keptPerKey = 1_000;
const askedLengthMax = 200;

/**
 * Calls that a key's limit, scope or cap refused, counted by what they asked for. No call waits for the database: the counts are written
 * together, every few seconds, so that the last counts of a copy are lost when it is killed.
 */
export class RefusedCalls {
  #counted = new Map<string, Counted>();
  /** What each key's calls of this minute are told apart by. */
  #kinds = new Map<string, Set<string>>();
  #minute = 0;

  /** `asked` is the address of an agent, or the method and path of a call that was not read. */
  note(keyId: KeyId, reason: RefusalReason, asked: string): void {
    const told = asked.replaceAll("\0", "").slice(0, askedLengthMax);
    const isTold = this.#isToldApart(keyId, `${reason} ${told}`);
    const kind = { keyId, minute: this.#minute, reason, asked: isTold ? told : "" };
    const name = Object.values(kind).join(" ");
    const counted = this.#counted.get(name);
    if (counted) counted.calls += 1;
    else if (this.#counted.size < countedMax) this.#counted.set(name, { ...kind, calls: 1 });
  }

  /** Writes down what was counted since it was last called. */
  async write(db: Queryable): Promise<void> {
    const counted = [...this.#counted.values()];
    this.#counted = new Map();
    if (counted.length > 0) await db.query(insertCounted, [JSON.stringify(counted)]);
  }

  /** Whether it is told apart from the key's other calls of this minute. */
  #isToldApart(keyId: KeyId, kind: string): boolean {
    const minute = Math.floor(Date.now() / 60_000) * 60;
    if (minute !== this.#minute) [this.#minute, this.#kinds] = [minute, new Map()];
    const kinds = this.#kinds.get(keyId) ?? new Set();
    if (kinds.has(kind)) return true;
    if (kinds.size >= kindsPerKey || this.#kinds.size >= countedMax) return false;
    this.#kinds.set(keyId, kinds.add(kind));
    return true;
  }
}

interface Counted {
  readonly keyId: KeyId;
  /** When it began, in seconds. */
  readonly minute: number;
  readonly reason: RefusalReason;
  readonly asked: string;
  calls: number;
}

/** In one order, so that two copies never wait for each other. */
const insertCounted = `
  insert into refused_calls as kept (key_id, minute, reason, asked, calls)
  select "keyId", to_timestamp(minute), reason, asked, calls
    from json_to_recordset($1) as counted ("keyId" text, minute bigint, reason text, asked text, calls bigint)
   order by 1, 2, 3, 4
  on conflict (key_id, minute, reason, asked) do update set calls = kept.calls + excluded.calls`;

/** Deletes what is older than runs are shown, and of each key all but the newest. */
export async function deleteOldRefusedCalls(db: Queryable): Promise<void> {
  await db.query(`delete from refused_calls where minute < now() - interval '${historyDays} days'`);
  await db.query(
    `delete from refused_calls r
     using (select key_id from refused_calls group by key_id having count(*) > $1) many,
       lateral (select minute from refused_calls where key_id = many.key_id order by minute desc offset $1 limit 1) last
     where r.key_id = many.key_id and r.minute <= last.minute`,
    [keptPerKey],
  );
}
