import { execFile } from "node:child_process";
import { connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { compiled } from "./compiled.ts";
import { elapse } from "./elapse.ts";

const megabyte = 1_000_000;
const bodyBytes = 15 * megabyte;
const attackMs = 4_000;

/** What a stranger without a key or money can do to a marketplace, by name; each lasts a few seconds and ends. */
export const attacks: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  "sixteen bodies of small values": ({ url }) => sixteen(url, "/api/x402/svg-vectorize", smallValues()),
  "sixteen bodies of small values beside a proof": ({ url }) =>
    sixteen(url, "/api/x402/svg-vectorize", smallValues(), { "payment-signature": madeUpProof }),
  "sixteen pictures beside a proof": ({ url }) =>
    sixteen(url, "/api/x402/svg-vectorize", picture(), { "payment-signature": madeUpProof }),
  "sixteen bodies of small values to the tool server": ({ url }) => sixteen(url, "/api/x402/mcp", smallValues()),
  "sixteen bodies of long texts to the tool server": ({ url }) => sixteen(url, "/api/x402/mcp", longText()),
  "sixteen bodies of escapes to the tool server": ({ url }) => sixteen(url, "/api/x402/mcp", escapes()),
  "deep nesting": ({ url, freeAgent }) => sixteen(url, `/api/agent/${freeAgent}`, Buffer.alloc(2 * megabyte, "[")),
  "sixteen bodies that are larger than their route takes": ({ url, freeAgent }) =>
    sixteen(url, `/api/agent/${freeAgent}`, smallValues()),
  "five hundred pages at once": ({ url }) => flood(url, 500, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
  "five hundred tool calls of small parts at once": ({ url }) => flood(url, 500, toolCallOfSmallParts()),
  "sixty uploads that never end": async ({ url }) => {
    const begun = await Promise.all(repeat(60, () => open(url, upload("/api/x402/mcp", bodyBytes))));
    const most = Buffer.alloc(bodyBytes - 1, " ");
    for (const socket of begun) socket.write(most);
    await elapse(attackMs, "how long the attack lasts");
    close(begun);
  },
  "sixty uploads that never end, beside a proof": async ({ url }) => {
    const proof = `payment-signature: ${madeUpProof}\r\n`;
    const begun = await Promise.all(repeat(60, () => open(url, upload("/api/x402/svg-vectorize", bodyBytes, proof))));
    const most = Buffer.alloc(bodyBytes - 1, " ");
    for (const socket of begun) socket.write(most);
    await elapse(attackMs, "how long the attack lasts");
    close(begun);
  },
  "headers a line at a time": async ({ url }) => {
    const begun = await Promise.all(repeat(500, () => open(url, "POST /api/x402/mcp HTTP/1.1\r\nHost: x\r\n")));
    for (let line = 0; line < 20; line += 1) {
      for (const socket of begun) socket.write(`x-${line}: ${line}\r\n`);
      await elapse(150, "how seldom a line comes");
    }
    close(begun);
  },
  "connections that say nothing": async ({ url }) => {
    const begun: Socket[] = [];
    for (let batch = 0; batch < 25; batch += 1) {
      begun.push(...(await Promise.all(repeat(100, () => open(url, "")))));
    }
    await elapse(1_000, "how long the attack lasts");
    close(begun);
  },
  "four hundred connections that ask without end": ({ url }) =>
    flood(url, 400, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_700)),
  "four hundred connections that ask without end and name no host": ({ url }) =>
    flood(url, 400, "GET / HTTP/1.1\r\n\r\n".repeat(3_400)),
  "two hundred connections that ask for large answers and read none": ({ url }) =>
    flood(url, 200, "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(8)),
  "sixty uploads in chunks of a byte, to another's host": async ({ url }) => {
    const head = "POST /api/svg/try HTTP/1.1\r\nHost: elsewhere.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    await flood(url, 60, head + "1\r\n \r\n".repeat(300_000));
  },
  "four hundred uploads in chunks of a byte, beside a proof": async ({ url }) => {
    const proof = `payment-signature: ${madeUpProof}\r\n`;
    const head = `POST /api/x402/svg-vectorize HTTP/1.1\r\nHost: 127.0.0.1\r\n${proof}Transfer-Encoding: chunked\r\n\r\n`;
    await flood(url, 400, head + "1\r\n \r\n".repeat(30_000));
  },
};

export interface Target {
  readonly url: string;
  /** `handle/slug` of an agent that costs nothing. */
  readonly freeAgent: string;
  /** And of one that is paid per call. */
  readonly soldAgent: string;
}

/** Runs one of the attacks in a process of its own, so that who measures is not held up by it; resolves at its end. */
export async function attack(name: string, target: Target): Promise<void> {
  const program = compiled(new URL("./attacker.ts", import.meta.url));
  const options = { env: { PATH: process.env.PATH }, timeout: 60_000 };
  await promisify(execFile)(process.execPath, [program, name, JSON.stringify(target)], options);
}

/**
 * Asks as a visitor until `over` resolves; `wanted` are the two statuses that are right. In a process of its own as well: what
 * holds up whoever measures would count as waiting.
 */
export async function bystand(target: Target, over: Promise<unknown>, wanted = "200,402"): Promise<Bystander> {
  const program = compiled(new URL("./bystander.ts", import.meta.url));
  const asking = promisify(execFile)(process.execPath, [program, wanted, JSON.stringify(target)], {
    env: { PATH: process.env.PATH },
    maxBuffer: 10 * megabyte,
  });
  await over.finally(() => asking.child.stdin?.end());
  return JSON.parse((await asking).stdout) as Bystander;
}

export interface Bystander {
  /** Of each pair of questions, the quickest first. */
  readonly tookMs: readonly number[];
  readonly failed: number;
}

/** What the process holds now. */
export async function memoryMegabytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout.trim()) / 1_024;
}

/** Posts it sixteen times at once; what is answered makes no difference. */
async function sixteen(url: string, path: string, body: Buffer, headers: Record<string, string> = {}): Promise<void> {
  const post = async () => {
    const sent = fetch(url + path, { method: "POST", headers, body: body as Uint8Array<ArrayBuffer> });
    await sent.then((answer) => answer.arrayBuffer()).catch(() => {});
  };
  await Promise.all(repeat(16, post));
}

const madeUpProof = Buffer.from(
  JSON.stringify({ x402Version: 2, accepted: { network: "eip155:84532" }, payload: {} }),
).toString("base64");

const smallValues = () => Buffer.from(`[${"{},".repeat(bodyBytes / 3 - 2)}1]`);
const picture = () => Buffer.from(JSON.stringify({ image: "A".repeat(13_000_000) }));
const longText = () => Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(bodyBytes - 100) }));
const escapes = () => Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${"\\u00fc\\n".repeat((bodyBytes - 100) / 8)}"}`);

/** Small enough to be counted by its parts alone, and 17,500 of them. */
function toolCallOfSmallParts(): string {
  const parts = Array.from({ length: 2_500 }, (_, part) => `"k${part}":{"a":[1,2,3]}`).join(",");
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none","arguments":{${parts}}}}`;
  const accept = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
  return upload("/api/x402/mcp", call.length, accept) + call;
}

function upload(path: string, length: number, headers = ""): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n${headers}\r\n`;
}

/** A connection on which something was said. It may be closed on us at any moment. */
function open(url: string, said: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => resolve(socket)).on("connect", () => resolve(socket));
    socket.resume();
    if (said) socket.write(said);
  });
}

/** The same on many connections at once, of which nothing is read. */
async function flood(url: string, connections: number, said: string): Promise<void> {
  const begun = await Promise.all(repeat(connections, () => open(url, "")));
  for (const socket of begun) socket.pause().write(said);
  await elapse(attackMs, "how long the attack lasts");
  close(begun);
}

function close(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

function repeat<T>(times: number, make: () => T): T[] {
  return Array.from({ length: times }, make);
}
