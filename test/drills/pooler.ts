import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { versionOfPooler } from "../support/pooler.ts";
import { CannotDrillError, unpack } from "./debian.ts";
import { choiceOf, optionOf, tableOf } from "./report.ts";

/** Debian's own, too old to know of prepared statements, and one that does. */
const variants = [
  { name: "stable", suite: undefined, statements: "unnamed" },
  { name: "trixie", suite: "trixie", statements: "named" },
] as const;

/**
 * The tests of both services with PgBouncer in transaction mode before their databases; each that is left out there says why. What failed is
 * run once more by itself: a busy machine lets tests wait in vain, a pooler that a service cannot bear fails them again. `--suite=stable|trixie`
 * for one of its versions, `--tests=<folder or file>,…` for some of the tests.
 */
export async function drill(seed: number): Promise<boolean> {
  const tests = optionOf("tests")?.split(",") ?? ["test/facilitator", "test/marketplace", "test/end-to-end"];
  const wanted = choiceOf(
    "suite",
    variants.map(({ name }) => name),
  );
  const portions: Portion[] = [];
  const skipped: string[] = [];
  for (const variant of variants) {
    if (wanted !== undefined && wanted !== variant.name) continue;
    try {
      await runThrough(variant, tests, { portions, seed });
    } catch (error) {
      if (!(error instanceof CannotDrillError)) throw error;
      skipped.push(`${variant.name}: ${error.message}`);
    }
  }
  const header = ["pooler", "statements", "tests", "passed", "failed", "left out", "failed again"];
  if (portions.length > 0) process.stdout.write(`\n${tableOf(header, portions.map(rowOf))}`);
  for (const { first, again } of portions) {
    for (const name of first.failed)
      process.stdout.write(`failed${again.failed.includes(name) ? " twice" : ""}: ${name}\n`);
  }
  const held = portions.every(({ first, again }) => first.passed + again.passed > 0 && again.failed.length === 0);
  // What failed is told before what could not be tried.
  if (held && skipped.length > 0) throw new CannotDrillError(skipped.join("; "));
  return held;
}

/** Some of the tests through one pooler. */
interface Portion {
  readonly pooler: string;
  readonly statements: string;
  readonly tests: string;
  readonly first: Ran;
  /** The files in which a test failed, run by themselves. */
  readonly again: Ran;
}

function rowOf({ pooler, statements, tests, first, again }: Portion): string[] {
  const counts = [first.passed, first.failed.length, first.leftOut, again.failed.length].map(String);
  return [pooler, statements, tests, ...counts];
}

/** Adds what it has to `portions` as soon as it has it. */
async function runThrough(
  { suite, statements }: (typeof variants)[number],
  tests: readonly string[],
  { portions, seed }: { readonly portions: Portion[]; readonly seed: number },
): Promise<void> {
  const pgbouncer = await unpack(["pgbouncer"], suite);
  try {
    const command = pgbouncer.command("usr/sbin/pgbouncer");
    const variables = { TEST_POOLER: JSON.stringify(command), TEST_STATEMENTS: statements, SEED: String(seed) };
    const pooler = await versionOfPooler(command);
    for (const some of tests) {
      const first = await run([some], variables);
      const again = first.files.length > 0 ? await run(first.files, variables) : nothing;
      portions.push({ pooler, statements, tests: some, first, again });
    }
  } finally {
    await pgbouncer.remove();
  }
}

interface Ran {
  readonly passed: number;
  readonly leftOut: number;
  /** The names of tests, or of files that could not be run. */
  readonly failed: readonly string[];
  /** In which something failed. */
  readonly files: readonly string[];
}

const nothing: Ran = { passed: 0, leftOut: 0, failed: [], files: [] };

async function run(tests: readonly string[], variables: NodeJS.ProcessEnv): Promise<Ran> {
  const report = join(tmpdir(), `pooler-${process.pid}.json`);
  const args = ["vitest", "run", ...tests, "--exclude", "**/*.browser.test.ts"];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const env = { ...process.env, ...variables };
  try {
    const vitest = spawn("npx", [...args, ...reporters], { cwd: projectDirectory, env, stdio: "inherit" });
    await once(vitest, "exit");
    const {
      numPassedTests: passed,
      numPendingTests: leftOut,
      testResults,
    }: Report = JSON.parse(await readFile(report, "utf8").catch(() => noReport(tests)));
    const broken = testResults.filter(({ status }) => status === "failed");
    const failed = broken.flatMap(({ name, assertionResults }) => {
      const names = assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
      const file = relative(projectDirectory, name);
      return names.length > 0 ? names.map((one) => `${file}: ${one}`) : [file];
    });
    return { passed, leftOut, failed, files: broken.map(({ name }) => relative(projectDirectory, name)) };
  } finally {
    await rm(report, { force: true });
  }
}

/** Of a run that ended before it could tell: then all of it is to be run once more. */
function noReport(tests: readonly string[]): string {
  const testResults = tests.map((name) => ({
    name: join(projectDirectory, name),
    status: "failed",
    assertionResults: [],
  }));
  return JSON.stringify({ numPassedTests: 0, numPendingTests: 0, testResults } satisfies Report);
}

interface Report {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly testResults: ReadonlyArray<{
    readonly name: string;
    readonly status: string;
    readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly status: string }>;
  }>;
}
