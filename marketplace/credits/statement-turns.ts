import type { AccountId } from "../ids.ts";

/** Of all accounts; each holds one connection to the database at most. */
const readsAtOnce = 4;

const waiting = new Map<AccountId, Array<() => void>>();
const reading = new Set<AccountId>();

/** Reads what many postings may have to be looked through for: one read of an account at a time, and so many of all. */
export async function inReadingTurn<T>(accountId: AccountId, read: () => Promise<T>): Promise<T> {
  if (reading.has(accountId) || reading.size >= readsAtOnce) {
    await new Promise<void>((resolve) => {
      waiting.set(accountId, [...(waiting.get(accountId) ?? []), resolve]);
    });
  } else reading.add(accountId);
  try {
    return await read();
  } finally {
    reading.delete(accountId);
    beginNext();
  }
}

/** An account that was read goes to the end. */
function beginNext(): void {
  for (const [accountId, [begin, ...after]] of waiting) {
    if (reading.size >= readsAtOnce) return;
    if (reading.has(accountId)) continue;
    waiting.delete(accountId);
    if (after.length > 0) waiting.set(accountId, after);
    reading.add(accountId);
    begin?.();
  }
}
