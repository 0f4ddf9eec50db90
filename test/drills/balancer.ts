import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../infra/free-port.ts";
import type { Unpacked } from "./debian.ts";
import { endOf } from "./processes.ts";

/** How often it asks each copy whether it is ready: one no is enough. */
export const checkEveryMs = 2_000;

/** Those that connections go to: as long as each answers 200 to `check`. */
export interface Balanced {
  /** `GET /readyz` */
  readonly check: string;
  readonly everyMs: number;
  /** `127.0.0.1:4022`, with `port 4023` after it where that is what answers the check. */
  readonly servers: readonly string[];
  /** Connections to one that fails its check are ended, not only those that would come. */
  readonly cutsOff?: true;
}

export const copiesOf = (urls: readonly string[]): Balanced => ({
  check: "GET /readyz",
  everyMs: checkEveryMs,
  servers: urls.map((url) => new URL(url).host),
});

/** HAProxy as a balancer of connections, which knows nothing of what goes on in them and tries nothing twice. */
export async function startBalancer(haproxy: Unpacked, services: Readonly<Record<string, Balanced>>) {
  const ports: Record<string, number> = {};
  const listeners: string[] = [];
  for (const [name, { check, everyMs, servers, cutsOff }] of Object.entries(services)) {
    const port = await freePort();
    ports[name] = port;
    listeners.push(
      `listen ${name}`,
      `  bind 127.0.0.1:${port}`,
      `  option httpchk ${check}`,
      "  http-check expect status 200",
      `  default-server check inter ${everyMs}ms fall 1 rise 1${cutsOff ? " on-marked-down shutdown-sessions" : ""}`,
      ...servers.map((server, at) => `  server ${name}${at} ${server}`),
    );
  }
  const defaults = ["mode tcp", "retries 0", "timeout connect 2s", "timeout client 10m", "timeout server 10m"];
  const text = `${["defaults", ...defaults.map((line) => `  ${line}`), ...listeners].join("\n")}\n`;
  const balancer = await runHaproxy(haproxy, text, ports);
  return { urlOf: (name: string) => `http://127.0.0.1:${ports[name]}`, stop: balancer.stop };
}

/** Until it takes connections at each of `ports`. */
export async function runHaproxy(haproxy: Unpacked, settings: string, ports: Readonly<Record<string, number>>) {
  const directory = await mkdtemp(join(tmpdir(), "balancer-"));
  const file = join(directory, "haproxy.cfg");
  await writeFile(file, settings);
  const [program, ...args] = haproxy.command("usr/sbin/haproxy");
  const child: ChildProcess = spawn(program, [...args, "-db", "-f", file], {
    stdio: ["ignore", "ignore", process.env.DRILL_LOG ? "inherit" : "ignore"],
  });
  for (const port of Object.values(ports)) await untilConnects(port, child);
  return {
    stop: async () => {
      await endOf(child, "SIGKILL");
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function untilConnects(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}`);
    const connected = await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (connected) return;
    await pause(50);
  }
}
