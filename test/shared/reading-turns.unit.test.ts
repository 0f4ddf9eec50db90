import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReadingTurns } from "../../shared/reading-turns.ts";

/** Connections whose reading is noted: what is wanted of Node's own. */
function connections(turns: ReadingTurns) {
  const server = new EventEmitter();
  turns.watch(server as unknown as Server);
  const read: string[] = [];
  const open = (name: string, remoteAddress: string): Socket => {
    const readStart = () => void read.push(name);
    const _handle = { reading: true, readStart, readStop: () => {} };
    const socket = Object.assign(new EventEmitter(), { remoteAddress, _handle }) as unknown as Socket;
    server.emit("connection", socket);
    return socket;
  };
  return { open, read, begin: (socket: Socket) => server.emit("request", { socket }) };
}

/** Parses what came on a connection for longer than a turn may take. */
function parseLong(turns: ReadingTurns, socket: Socket): void {
  turns.look(socket);
  const begunAt = performance.now();
  while (performance.now() - begunAt < 10);
  turns.look(socket);
}

const names = (what: string) => Array.from({ length: 20 }, (_, n) => `${what} ${n}`);

test.for([
  ["a trusted proxy", (address: string) => address === "10.0.0.1", "10.0.0.1"],
  ["the caller's own address", () => false, "192.0.2.2"],
] as const)(
  "a request by %s is read before those that come in many chunks, however many these are",
  async ([_by, isProxy, address]) => {
    const turns = new ReadingTurns(isProxy);
    const { open, read } = connections(turns);
    const slow = names("slow").map((name) => open(name, "10.0.0.1"));
    for (const socket of slow) turns.look(socket);
    open("quick", address);
    await nextTurn();
    parseLong(turns, slow[0]!);
    await nextTurn();
    expect(read).toEqual(["quick"]);
    for (let turn = 0; turn < 30; turn += 1) await nextTurn();
    expect(read).toHaveLength(20);
  },
);

test("connections of a proxy that have brought nothing yet are read some at a time, those of one caller one by one", async () => {
  for (const [isProxy, atOnce] of [
    [true, 4],
    [false, 1],
  ] as const) {
    const turns = new ReadingTurns(() => isProxy);
    const { open, read } = connections(turns);
    const parsed = open("parsed", "10.0.0.1");
    for (const name of names("quick")) open(name, "10.0.0.1");
    parseLong(turns, parsed);
    await nextTurn();
    expect(read).toHaveLength(atOnce);
  }
});

test("a connection whose next request has begun counts by that one", async () => {
  const turns = new ReadingTurns(() => true);
  const { open, read, begin } = connections(turns);
  const [before, other] = [open("before", "10.0.0.1"), open("other", "10.0.0.1")];
  turns.look(before);
  turns.look(other);
  begin(before);
  await nextTurn();
  parseLong(turns, open("parsed", "10.0.0.1"));
  await nextTurn();
  expect(read).toEqual(["before"]);
});
