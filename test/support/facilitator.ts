import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createContext } from "../../facilitator/compose.ts";
import { readConfig } from "../../facilitator/config.ts";
import type { Context } from "../../facilitator/context.ts";
import { startJobs } from "../../facilitator/jobs.ts";
import { createServer } from "../../facilitator/server.ts";
import { freePort } from "../../infra/free-port.ts";
import { listen } from "../../shared/http.ts";
import { compiled } from "./compiled.ts";
import { elapse } from "./elapse.ts";
import { statementVariables } from "./statements.ts";

export type Variables = Record<string, string>;

/** The daemon in this process, on any free port. */
export async function startFacilitator(variables: Variables): Promise<RunningFacilitator & { context: Context }> {
  const context = await createContext(readConfig({ LOG_LEVEL: "silent", ...statementVariables, ...variables }));
  await context.schemes.start(context.log).catch(async (error) => {
    await context.stop();
    throw error;
  });
  const jobs = startJobs(context, { pace: 4 });
  const listening = await listen(createServer(context), { host: "127.0.0.1", port: 0 });
  return {
    ...callsTo(listening.url),
    context,
    stop: async () => {
      await listening.stop();
      await jobs.stop();
      await context.stop();
    },
  };
}

/** Where a test takes settlements out of the database to see what the daemon does then: they are not searched for on the chain. */
export async function searchNoLostSettlements({ db }: Pick<Context, "db">, network: string, feePayer: string) {
  await db.query(
    `insert into searched_settlements (network, fee_payer, searched_until) values ($1, $2, $3)
     on conflict (network, fee_payer) do update set searched_until = excluded.searched_until`,
    [network, feePayer, 2n ** 62n],
  );
}

/** The daemon as it is deployed: a process of its own, which can be killed. */
export async function spawnFacilitator(variables: Variables): Promise<RunningFacilitator & { process: ChildProcess }> {
  const port = await freePort();
  const main = compiled(new URL("../../facilitator/main.ts", import.meta.url));
  const usual = { PATH: process.env.PATH, LOG_LEVEL: "warn", DRAIN_MS: "0" };
  const child = spawn(process.execPath, [main], {
    env: { ...usual, ...statementVariables, ...variables, FACILITATOR_PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const url = `http://127.0.0.1:${port}`;
  for (let waitedMs = 0; ; waitedMs += 50) {
    if (child.exitCode !== null || waitedMs > 120_000) throw new Error(`the facilitator did not start: ${output}`);
    if ((await fetch(`${url}/readyz`).catch(() => undefined))?.ok) break;
    await elapse(50, "until it is asked again");
  }
  return {
    ...callsTo(url),
    process: child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

export interface RunningFacilitator {
  readonly url: string;
  verify(body: unknown): Promise<Answer>;
  settle(body: unknown): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Answer = { status: number; headers: Headers; body: any };

export function callsTo(url: string) {
  const call = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  const post = (path: string) => (body: unknown) =>
    call(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    url,
    verify: post("/verify"),
    settle: post("/settle"),
    post: (path: string, body: unknown) => post(path)(body),
    get: (path: string) => call(path),
  };
}
