import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createClient } from "@redis/client";
import { freePort } from "../../infra/free-port.ts";

const program = ["/usr/bin/valkey-server", "/usr/bin/redis-server"].find((path) => existsSync(path));

/** Whether counting in a Valkey can be tested here; otherwise one is told. */
export const hasValkey = program !== undefined;
if (!hasValkey) console.warn("Counting in a Valkey is not tested: there is none; apt install redis-server");

/** A real Valkey (or Redis) on a port that stays the same, to be stopped, killed, filled and started again. */
export class Valkey {
  readonly #port: number;
  #child: ChildProcess | undefined;

  static async start(): Promise<Valkey> {
    const valkey = new Valkey(await freePort());
    await valkey.start();
    return valkey;
  }

  private constructor(port: number) {
    this.#port = port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const options = ["--port", String(this.#port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const child = spawn(program as string, options, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    for await (const chunk of child.stdout) {
      if (String(chunk).includes("Ready to accept connections")) break;
    }
    if (child.exitCode !== null) throw new Error(`${program} did not start on port ${this.#port}`);
  }

  /** It keeps its connections and says nothing any more. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async tell(...command: string[]): Promise<void> {
    const client = createClient({ url: this.url });
    await client.connect();
    await client.sendCommand(command);
    client.destroy();
  }
}
