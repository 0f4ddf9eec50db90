import { expect, test } from "vitest";
import { countRuns } from "../../marketplace/agents/count-runs.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { freshDatabase } from "../support/postgres.ts";
import { statements } from "../support/statements.ts";

test("counting runs takes a transaction for ten minutes of the past, and none for the moments that pass meanwhile", async () => {
  const db = connect(await freshDatabase("marketplace"), { poolMax: 1, statements, applicationName: "test" });
  try {
    await db.query("update run_count_progress set counted_until = now() - interval '65 minutes'");
    // One more takes out the days that are too long ago.
    expect(await transactionsOf(db, countRuns)).toBe(7 + 1);
    expect(await transactionsOf(db, countRuns)).toBe(1 + 1);
  } finally {
    await db.end();
  }
});

async function transactionsOf(db: Database, work: (db: Database) => Promise<void>): Promise<number> {
  let begun = 0;
  // Single statements take their connection by a callback.
  const connectCounted = (...callback: []) => {
    if ((callback as unknown[]).length === 0) begun += 1;
    return db.connect(...callback);
  };
  await work(Object.create(db, { connect: { value: connectCounted } }));
  return begun;
}
