import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../infra/free-port.ts";
import { compiled } from "./compiled.ts";
import { elapse } from "./elapse.ts";
import { statementVariables } from "./statements.ts";

/** One of the services as a process of its own on a port that stays the same, to be killed and started again. */
export class Service {
  readonly url: string;
  #main: string;
  readonly #variables: Record<string, string>;
  #child: ChildProcess | undefined;

  static async start(
    service: "facilitator" | "marketplace",
    variables: Record<string, string>,
    main = compiled(new URL(`../../${service}/main.ts`, import.meta.url)),
  ): Promise<Service> {
    // Between looking for a free port and listening on it another program can take it.
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await Service.#startOn(await freePort(), service, variables, main);
      } catch (error) {
        if (attempt === 3 || !String(error).includes("is taken by another program")) throw error;
      }
    }
  }

  static async #startOn(
    port: number,
    service: "facilitator" | "marketplace",
    variables: Record<string, string>,
    main: string,
  ): Promise<Service> {
    const portVariable = `${service.toUpperCase()}_PORT`;
    const one = new Service(main, `http://127.0.0.1:${port}`, { ...variables, [portVariable]: String(port) });
    await one.start();
    return one;
  }

  private constructor(main: string, url: string, variables: Record<string, string>) {
    this.#main = main;
    this.url = url;
    this.#variables = variables;
  }

  /** Waits until it is ready; a facilitator may wait for its networks for longer than a test should take. */
  async start(): Promise<void> {
    let output = "";
    const child = spawn(process.execPath, [this.#main], {
      env: { PATH: process.env.PATH, LOG_LEVEL: "error", DRAIN_MS: "0", ...statementVariables, ...this.#variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    for (let waitedMs = 0; ; waitedMs += 50) {
      if (child.exitCode !== null || waitedMs > 120_000) throw new Error(`${this.#main} did not start: ${output}`);
      const answer = await fetch(`${this.url}/readyz`).catch(() => undefined);
      if (answer?.ok || (answer && waitedMs > networksMaxMs)) return;
      await elapse(50, "until it is asked again");
    }
  }

  get isUp(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** From the next start on it is the same service as another version has it: its `main.js`. */
  become(main: string): void {
    this.#main = main;
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Answers the exit code. */
  async stop(): Promise<number | undefined> {
    await this.#end("SIGTERM");
    return this.#child?.exitCode ?? undefined;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }
}

const networksMaxMs = 15_000;
