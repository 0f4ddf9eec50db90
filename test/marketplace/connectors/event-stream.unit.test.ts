import fc from "fast-check";
import { expect, test } from "vitest";
import { messagesIn } from "../../../marketplace/connectors/event-stream.ts";

async function read(pieces: readonly Uint8Array[]): Promise<string[]> {
  async function* chunks() {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const messages: string[] = [];
  for await (const message of messagesIn(chunks())) messages.push(message);
  return messages;
}

test("messages are read alike wherever the stream is cut and however its lines end", async () => {
  const lines = [
    ": hello",
    "data: one é😀",
    "",
    "event: message",
    "id: 5",
    "data:two",
    "data: three",
    "",
    "event: other",
  ];
  const more = ["data: not this", "", "", "data", "retry: 0", "data: {}", "", "data: never ended"];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat(200), { maxLength: 8 }),
      async (end, cuts) => {
        const bytes = Buffer.from([...lines, ...more].join(end));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(await read(pieces)).toEqual(["one é😀", "two\nthree", "{}"]);
      },
    ),
    { numRuns: 300 },
  );
});

test("an event without data, by which a server names the place to come back to, is no message", async () => {
  expect(await read([Buffer.from("id: 1\nretry: 5\ndata: \n\nid: 2\nevent: message\ndata: {}\n\n")])).toEqual(["{}"]);
});

test("a stream of lines without end is given up, and one of a single long line is looked at once", async () => {
  await expect(read(Array(10).fill(Buffer.from("\n".repeat(10_000))))).rejects.toThrow("too much");
  const startedAt = process.cpuUsage();
  expect(
    await read([...Array(1_000).fill(Buffer.from("data: ".padEnd(16_384, "x"))), Buffer.from("\n\n")]),
  ).toHaveLength(1);
  expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000);
});
