import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import type { Port } from "./settings.ts";

/** Throws, naming each port that is taken, the process that holds it and how to choose another. */
export async function requireFreePorts(ports: readonly Port[]): Promise<void> {
  const complaints = await Promise.all(ports.map(complaintAbout));
  const lines = complaints.filter((line) => line !== undefined);
  if (lines.length > 0) throw new PortsTakenError(lines);
}

export class PortsTakenError extends Error {
  override readonly name = "PortsTakenError";

  constructor(lines: readonly string[]) {
    super(`cannot start, nothing was started:\n${lines.map((line) => `  - ${line}`).join("\n")}`);
  }
}

async function complaintAbout({ number, variable }: Port): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(number, "127.0.0.1");
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE") return `port ${number} (${variable}) cannot be used: ${message}`;
    const holder = (await holderOf(number)) ?? "another program";
    return `port ${number} (${variable}) is taken by ${holder}; stop it, or choose another port with ${variable}`;
  }
}

/** The program that listens on the port, as far as lsof or ss can tell. */
async function holderOf(port: number): Promise<string | undefined> {
  const [lsof, ss] = await Promise.all([
    output("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fp"]),
    output("ss", ["-Hltnp", `sport = :${port}`]),
  ]);
  const pid = /^p(\d+)/m.exec(lsof)?.[1] ?? /pid=(\d+)/.exec(ss)?.[1];
  if (!pid) return undefined;
  const command = (await output("ps", ["-o", "args=", "-p", pid])).trim();
  const essence = command.replace(/^\S*\//, "").replaceAll(/ --(require|import) \S+| --enable-source-maps/g, "");
  return `process ${pid}${essence === "" ? "" : ` (${essence.slice(0, 80)})`}`;
}

async function output(program: string, args: readonly string[]): Promise<string> {
  return promisify(execFile)(program, args).then(
    ({ stdout }) => stdout,
    () => "",
  );
}
