import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** A step of a guide: an HTML comment that says what to do with the block of code after it. */
interface Step {
  readonly instruction: string;
  readonly code: string;
}

function stepsOf(guide: string): Step[] {
  const found = guide.matchAll(/<!-- (.+?) -->\n```\w*\n([\s\S]*?)\n```/g);
  return [...found].map(([, instruction, code]) => ({ instruction: instruction as string, code: code as string }));
}

async function follow({ instruction, code }: Step, directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [, path, kind, anchor] =
    /^(?:create|(?:insert into|replace in)) (\S+?)(?:( after|): (.*))?$/.exec(instruction) ?? [];
  const [, expected] = /^run; prints: (.*)$/.exec(instruction) ?? [];
  if (expected !== undefined) {
    const { stdout } = await run("bash", ["-c", code], { cwd: directory, env });
    expect(stdout).toContain(expected);
  } else if (path === undefined) {
    throw new Error(`not understood: ${instruction}`);
  } else if (anchor === undefined) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), `${code}\n`);
  } else {
    const lines = (await readFile(join(directory, path), "utf8")).split("\n");
    const at = lines.findIndex((line) => (kind ? line.trim() === anchor.trim() : line.includes(anchor)));
    expect(at, `${path} has no line "${anchor}"`).toBeGreaterThanOrEqual(0);
    if (kind) lines.splice(at + 1, 0, code);
    else lines[at] = code + (lines[at] as string).split(anchor)[1];
    await writeFile(join(directory, path), lines.join("\n"));
  }
}

const guides = ["add-a-chain", "add-a-connector", "add-a-chain-family", "add-an-endpoint", "add-a-page"];
const isRun = ({ instruction }: Step) => instruction.startsWith("run;");

// One after the other in one project, since compiling one takes most of the time.
test("a reader who follows the guides of docs/ step by step has it working, in a project that compiles and passes the linter", async () => {
  const directory = await mkdtemp(join(tmpdir(), "guide-"));
  try {
    // What was compiled before need not be compiled again.
    const parts = [
      "client",
      "facilitator",
      "marketplace",
      "shared",
      "tsconfig.base.json",
      "package.json",
      "biome.json",
      "dist",
    ];
    for (const part of parts.filter((name) => existsSync(join(project, name)))) {
      await cp(join(project, part), join(directory, part), { recursive: true, preserveTimestamps: true });
    }
    await symlink(join(project, "node_modules"), join(directory, "node_modules"));
    const env = {
      ...process.env,
      FACILITATOR_DATABASE_URL: await freshDatabase("facilitator"),
      MARKETPLACE_DATABASE_URL: await freshDatabase("marketplace"),
    };
    const steps = new Map<string, Step[]>();
    for (const guide of guides) steps.set(guide, stepsOf(await readFile(join(project, "docs", `${guide}.md`), "utf8")));
    for (const step of [...steps.values()].flat().filter((step) => !isRun(step))) await follow(step, directory, env);
    const tsc = join(project, "node_modules/typescript/bin/tsc");
    const compiled = await run(process.execPath, [tsc, "-b", "facilitator", "marketplace"], { cwd: directory }).catch(
      (error) => error,
    );
    expect(compiled.stdout).toBe("");
    const sources = ["client/payments", "facilitator", "marketplace", "shared"];
    const biome = (...options: string[]) =>
      run("npx", ["biome", "check", "--vcs-enabled=false", ...options, ...sources], { cwd: directory });
    // What `npm run format` cannot put right, a reader has to.
    await biome("--write");
    await biome("--error-on-warnings");
    for (const guide of guides)
      expect(await readFile(join(project, "docs", `${guide}.md`), "utf8"), guide).toContain("`npm run format`");
    for (const [guide, own] of steps) {
      expect(own.filter(isRun), guide).not.toEqual([]);
      for (const step of own.filter(isRun)) await follow(step, directory, env);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 600_000);
