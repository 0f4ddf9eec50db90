import { expect, test } from "vitest";
import { startPeriodicTask } from "../../shared/periodic-task.ts";
import { analyzeGrownTables } from "../../shared/planner-statistics.ts";
import { connect } from "../../shared/postgres.ts";
import { freshDatabase } from "../support/postgres.ts";

test("a table that has grown is analyzed soon, and one that has not is left alone", async () => {
  const db = connect(await freshDatabase("marketplace"), { poolMax: 2, applicationName: "test" });
  const failures: unknown[] = [];
  const analyzing = startPeriodicTask({
    run: () => analyzeGrownTables(db),
    everyMs: 100,
    failed: (error) => failures.push(error),
  });
  try {
    const tableOf = (name: string, rows: number) =>
      db.query(`create table ${name} with (autovacuum_enabled = false) as select n from generate_series(1, ${rows}) n`);
    await tableOf("small", 100);
    await tableOf("grown", 2_000);
    const counted = async (name: string) => {
      const { rows } = await db.query("select reltuples::integer as rows from pg_class where relname = $1", [name]);
      return rows[0].rows;
    };
    await expect.poll(() => counted("grown"), { interval: 200 }).toBe(2_000);
    expect(await counted("small")).toBe(-1);
    await db.query("insert into grown select n from generate_series(1, 2500) n");
    await expect.poll(() => counted("grown"), { interval: 200 }).toBe(4_500);
    expect(failures).toEqual([]);
  } finally {
    await analyzing.stop();
    await db.end();
  }
});
