import { createSocket, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dnsLookup, type Resolve } from "../../shared/dns-lookup.ts";

/** A name server: A for `four.`, AAAA for `six.`, both for `both.`, silence for `silent.`, and nothing by any other name. */
let server: Socket;
let resolve: Resolve;
beforeAll(async () => {
  server = createSocket("udp4");
  server.on("message", (query, { port, address }) => {
    const name = nameIn(query);
    if (name.startsWith("silent")) return;
    const isFour = query[13 + name.length + 2] === 1;
    const has = name.startsWith("both") || name.startsWith(isFour ? "four" : "six");
    server.send(answerTo(query, has ? (isFour ? four : six) : undefined), port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  resolve = dnsLookup({ servers: [`127.0.0.1:${server.address().port}`] });
});
afterAll(() => server.close());

const four = Buffer.from([93, 184, 215, 14]);
const six = Buffer.from("26064700000000000000000000001111", "hex");

test("both kinds of addresses are found, and either alone", async () => {
  expect(await resolve("four.example.com")).toEqual([{ address: "93.184.215.14", family: 4 }]);
  expect(await resolve("six.example.com")).toEqual([{ address: "2606:4700::1111", family: 6 }]);
  expect(await resolve("both.example.com")).toHaveLength(2);
  await expect(resolve("none.example.com")).rejects.toThrow();
});

test("names whose server never answers fail in time, and keep no other from being found meanwhile", async () => {
  let failed = 0;
  const silent = Array.from({ length: 100 }, (_, n) =>
    resolve(`silent-${n}.example.com`).catch((error) => {
      failed += 1;
      return error.code;
    }),
  );
  await Promise.all([lookup("localhost"), resolve("four.example.com")]);
  // These had not to wait for those.
  expect(failed).toBe(0);
  expect(new Set(await Promise.all(silent))).toEqual(new Set(["ETIMEOUT"]));
});

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]; at += query[at]! + 1) labels.push(query.toString("ascii", at + 1, at + 1 + query[at]!));
  return labels.join(".");
}

function answerTo(query: Buffer, address: Buffer | undefined): Buffer {
  const question = query.subarray(12, 12 + nameIn(query).length + 2 + 4);
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(address ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  if (!address) return Buffer.concat([header, question]);
  const record = Buffer.from([0xc0, 12, 0, address.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, address.length]);
  return Buffer.concat([header, question, record, address]);
}
