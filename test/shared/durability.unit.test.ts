import { expect, test } from "vitest";
import { DurabilityWatch, readDurability } from "../../shared/durability.ts";
import { EnvReader } from "../../shared/env.ts";
import { createLog } from "../../shared/log.ts";
import { durabilityGauge } from "../../shared/metrics.ts";
import { connect } from "../../shared/postgres.ts";

test("until the database was asked nobody is told that a failover loses nothing, and the figure agrees", () => {
  const db = connect("postgres://nobody@127.0.0.1:1/none", { poolMax: 1, applicationName: "test" });
  for (const DURABILITY of ["single", "synchronous", "asynchronous"]) {
    const declared = readDurability(new EnvReader({ DURABILITY }));
    const watch = new DurabilityWatch(declared, { db, log: createLog("test", "silent") });
    expect(watch.now).toMatchObject({ declared, seen: null });
    expect(watch.now.risk).not.toContain("loses nothing");
    expect(durabilityGauge(watch).text()).toContain(`{declared="${declared}",seen=""} 1`);
  }
});
