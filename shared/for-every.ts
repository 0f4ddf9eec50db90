import { isDatabaseAway, wasRolledBack } from "./postgres.ts";

/**
 * Does `act` for one item after the other, also when it fails for some: one that cannot be done keeps none of the others
 * waiting. Throws the first error afterwards, so that its job counts as failed; at once when the database is away.
 */
export async function forEvery<Item>(items: Iterable<Item>, act: (item: Item) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    await act(item).catch((error: unknown) => {
      // A row that is locked for long is that row's trouble.
      if (isDatabaseAway(error) && !wasRolledBack(error)) throw error;
      errors.push(error);
    });
  }
  if (errors.length > 0) throw errors[0];
}
