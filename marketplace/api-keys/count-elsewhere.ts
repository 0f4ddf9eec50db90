import type { Queryable } from "../../shared/postgres.ts";
import type { RequestCounts } from "../../shared/rate-limit.ts";
import { type Admission, activeKeys, callerOf, type KeyLookup, type KeyRow } from "./authenticate.ts";

/**
 * Counts calls of keys elsewhere than in the database, which then is only read: each against its key's limit, and those within it
 * against their account's ceiling. An account that revokes its only key and makes another goes on where the first one stopped.
 */
export function countedIn(counts: RequestCounts, find: FindKey): KeyLookup["key"] {
  return async (digest) => {
    const key = await find(digest);
    if (!key) return undefined;
    const limit = key.rate_limit_per_minute;
    const own = await counts.increment(key.is_only_key ? `only key of ${key.account_id}` : `key ${key.id}`);
    if (own.totalHits > limit) return admissionOf(key, [{ ...own, limit }]);
    const together = await counts.increment(`account ${key.account_id}`);
    return admissionOf(key, [
      { ...own, limit },
      { ...together, limit: key.calls_per_minute_max },
    ]);
  };
}

/** By SHA-256 digest in hex; undefined for an unknown or revoked key, or one whose account is not open. */
type FindKey = (digest: string) => Promise<KeyRow | undefined>;

/** In the order asked. */
export async function findKeys(db: Queryable, digests: readonly string[]): Promise<Array<KeyRow | undefined>> {
  const asked = [...new Set(digests)];
  const { rows } = await db.query<KeyRow>({
    name: "find keys",
    text: activeKeys,
    values: [asked, asked.map(() => 1)],
  });
  const found = new Map(rows.map((row) => [row.digest, row]));
  return digests.map((digest) => found.get(digest));
}

interface Counted {
  readonly totalHits: number;
  readonly resetTime: Date | undefined;
  readonly limit: number;
}

function admissionOf(key: KeyRow, counted: readonly Counted[]): Admission {
  const left = Math.min(...counted.map(({ totalHits, limit }) => limit - totalHits));
  const resetAt = Math.max(...counted.map(({ resetTime }) => resetTime?.getTime() ?? 0));
  return {
    caller: callerOf(key),
    admitted: left >= 0,
    remaining: Math.max(0, left),
    resetSeconds: Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000)),
    useIsNews: key.use_is_news,
  };
}
