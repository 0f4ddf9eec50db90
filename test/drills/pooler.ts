import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { versionOfPooler } from "../support/pooler.ts";
import { CannotDrill, unpack } from "./debian.ts";
import { choiceOf, optionOf, tableOf } from "./report.ts";

/** Debian's own, too old to know of prepared statements, and one that does. */
const variants = [
  { name: "stable", suite: undefined, statements: "unnamed" },
  { name: "trixie", suite: "trixie", statements: "named" },
] as const;

/**
 * The tests of both services with PgBouncer in transaction mode before their databases; each that is left out there says why. `--suite=stable|trixie` for one of its
 * versions, `--tests=<folder or file>,…` for some of the tests.
 */
export async function drill(): Promise<boolean> {
  const tests = optionOf("tests")?.split(",") ?? ["test/facilitator", "test/marketplace", "test/end-to-end"];
  const wanted = choiceOf(
    "suite",
    variants.map(({ name }) => name),
  );
  const rows: string[][] = [];
  const skipped: string[] = [];
  let held = true;
  for (const { name, suite, statements } of variants) {
    if (wanted !== undefined && wanted !== name) continue;
    try {
      const { version, passed, failed, leftOut } = await runThrough(suite, statements, tests);
      held &&= passed > 0 && failed === 0;
      rows.push([version, statements, ...[passed, failed, leftOut].map(String)]);
    } catch (error) {
      if (!(error instanceof CannotDrill)) throw error;
      skipped.push(`${name}: ${error.message}`);
    }
  }
  if (rows.length > 0)
    process.stdout.write(`\n${tableOf(["pooler", "statements", "passed", "failed", "left out"], rows)}`);
  // What failed is told before what could not be tried.
  if (held && skipped.length > 0) throw new CannotDrill(skipped.join("; "));
  return held;
}

async function runThrough(suite: string | undefined, statements: string, tests: readonly string[]) {
  const pgbouncer = await unpack(["pgbouncer"], suite);
  const report = join(tmpdir(), `pooler-${process.pid}.json`);
  try {
    const command = pgbouncer.command("usr/sbin/pgbouncer");
    const args = ["vitest", "run", ...tests, "--exclude", "**/*.browser.test.ts"];
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const env = { ...process.env, TEST_POOLER: JSON.stringify(command), TEST_STATEMENTS: statements };
    const vitest = spawn("npx", [...args, ...reporters], { cwd: projectDirectory, env, stdio: "inherit" });
    await once(vitest, "exit");
    const counts: Counts = JSON.parse(await readFile(report, "utf8"));
    const failed = Math.max(counts.numFailedTests, counts.numFailedTestSuites);
    return {
      version: await versionOfPooler(command),
      passed: counts.numPassedTests,
      failed,
      leftOut: counts.numPendingTests,
    };
  } finally {
    await rm(report, { force: true });
    await pgbouncer.remove();
  }
}

type Counts = Record<"numPassedTests" | "numFailedTests" | "numFailedTestSuites" | "numPendingTests", number>;
