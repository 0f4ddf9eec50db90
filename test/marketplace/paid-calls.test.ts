import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../marketplace/ids.ts";
import { type Held, PaidCalls } from "../../marketplace/payments/paid-calls.ts";
import { startMarketplace, type TestMarketplace } from "../support/marketplace.ts";

let market: TestMarketplace;
let copies: readonly [PaidCalls, PaidCalls];
beforeAll(async () => {
  market = await startMarketplace();
  const { db } = market.context;
  copies = [new PaidCalls(db, 60_000), new PaidCalls(db, 60_000)];
});
afterAll(() => market.stop());

const network = "eip155:84532";
const newKey = () => `0xasset:0xpayer:0x${randomBytes(32).toString("hex")}`;
const begin = (copy: PaidCalls, key: string, more: { transaction?: string } = {}) =>
  copy.begin({
    id: { network, key },
    product: "agt_x",
    agentVersion: 1,
    digest: randomBytes(32),
    requirements: { scheme: "exact", network, amount: "1", asset: "a", payTo: "b", maxTimeoutSeconds: 180 },
    payer: undefined,
    runId: newId("run"),
    transaction: more.transaction,
    proof: undefined,
    runsUnpaid: more.transaction === undefined,
  });
const result = (data: string) => ({ output: { kind: "text" as const, text: data } });

test("two copies that begin the same payments at the same moment, in opposite orders, begin each of them once", async () => {
  for (let round = 0; round < 30; round += 1) {
    const keys = Array.from({ length: 40 }, newKey);
    const [here, there] = await Promise.all([
      Promise.all(keys.map((key) => begin(copies[0], key))),
      Promise.all(keys.toReversed().map((key) => begin(copies[1], key))),
    ]);
    const taken = [...here, ...there].filter((held) => held !== undefined);
    expect(taken.map(({ id }) => id.key).toSorted()).toEqual(keys.toSorted());
  }
});

test("posts of one payment that begin together at one copy begin it once", async () => {
  const key = newKey();
  const held = await Promise.all(Array.from({ length: 20 }, () => begin(copies[0], key)));
  expect(held.filter(Boolean)).toHaveLength(1);
});

test("each call of many that are written together gets what is its own", async () => {
  const [copy] = copies;
  const keys = Array.from({ length: 60 }, newKey);
  const calls = (await Promise.all(
    keys.map((key, n) => begin(copy, key, n % 3 ? {} : { transaction: `tx ${n}` })),
  )) as Held[];
  expect(calls.map(({ id }) => id.key)).toEqual(keys);
  // One in five is long, and written by itself.
  const texts = keys.map((key, n) => `"${key}", {}\\ \u0000 \ud800 ${n % 5 ? "" : "x".repeat(70_000)}`);
  expect(await Promise.all(calls.map((held, n) => copy.keepResult(held, result(texts[n]!))))).toEqual(
    keys.map(() => true),
  );
  const handedOutAt = keys.map((_key, n) => (n % 2 ? new Date(1_700_000_000_000 + n) : null));
  await Promise.all(
    calls.map((held, n) =>
      copy.conclude({ ...held, transaction: `tx ${n}`, payer: n % 4 ? `payer ${n}` : null }, handedOutAt[n]!),
    ),
  );
  const found = await Promise.all(calls.map(({ id }) => copy.find(id)));
  expect(found.map((call) => ({ ...call, digest: undefined, requirements: undefined }))).toEqual(
    calls.map(({ runId }, n) => ({
      product: "agt_x",
      runId,
      payer: n % 4 ? `payer ${n}` : null,
      transaction: `tx ${n}`,
      output: { kind: "text", text: texts[n] },
      receipt: null,
      deliveredAt: handedOutAt[n],
      leased: false,
      isRecent: true,
      agentVersion: 1,
    })),
  );
});

test("whoever has lost a call writes nothing to it, though it is written together with calls that are held", async () => {
  const [copy] = copies;
  const [own, lost] = (await Promise.all([begin(copy, newKey()), begin(copy, newKey())])) as [Held, Held];
  await copy.putDown(lost);
  const taker = (await copies[1].takeUp(lost.id, newId("run"))) as Held;
  expect(await Promise.all([copy.keepResult(own, result("mine")), copy.keepResult(lost, result("late"))])).toEqual([
    true,
    false,
  ]);
  await Promise.all([
    copy.conclude({ ...own, transaction: "tx" }, new Date()),
    copy.conclude({ ...lost, transaction: "wrong" }, new Date()),
  ]);
  expect(await copy.find(own.id)).toMatchObject({ output: { text: "mine" }, transaction: "tx" });
  expect(await copy.find(lost.id)).toMatchObject({ output: null, transaction: null, deliveredAt: null, leased: true });
  expect(await copies[1].keepResult(taker, result("right"))).toBe(true);
});
