import { batched } from "../../shared/batch.ts";
import { wasRolledBack } from "../../shared/postgres.ts";

/**
 * Gathers what is to be stored within one turn of the event loop into one statement of `write`. Where the database certainly
 * stored nothing of it, each is stored by itself: none keeps another from being stored.
 */
export function batchedWrites<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const writeAll = async (items: readonly Item[]): Promise<ReadonlyArray<PromiseSettledResult<Result>>> => {
    try {
      const results = await write(items);
      return results.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (items.length === 1 || !wasRolledBack(reason)) return items.map(() => ({ status: "rejected", reason }));
      return Promise.allSettled(items.map(async (item) => (await write([item]))[0] as Result));
    }
  };
  const writeOne = batched(writeAll, { sizeMax: 100, windowMs: 0 });
  return async (item) => {
    const written = await writeOne(item);
    if (written.status === "rejected") throw written.reason;
    return written.value;
  };
}
