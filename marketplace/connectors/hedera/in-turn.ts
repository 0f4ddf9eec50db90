import { FairSemaphore, NoPermitError } from "../../../shared/fair-semaphore.ts";
import { type Call, holderOf } from "../connector.ts";
import { notNow } from "../refusal.ts";
import { busyText } from "../result.ts";

/**
 * Runs that read at a time what must hold before they write, each with up to four of the mirror's connections: an account's slow ones leave
 * some to others.
 */
const turns = new FairSemaphore({ total: 16, waitMs: 10_000, part: 2 });

/** Reads before a write, when it is the account's turn. Throws RefusalError where it does not come: nothing was sent. */
export async function inTurn<T>({ agent, signal }: Call<unknown>, read: () => Promise<T>): Promise<T> {
  const release = await turns.acquire(holderOf(agent), signal).catch((error: unknown) => {
    throw error instanceof NoPermitError ? notNow(busyText, 5, error.message) : error;
  });
  return read().finally(release);
}
