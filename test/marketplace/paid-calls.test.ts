import { hash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { newId } from "../../marketplace/ids.ts";
import type { LeasedCall } from "../../marketplace/payments/paid-calls/paid-call.ts";
import { waitingMax } from "../../marketplace/payments/paid-calls/redeem.ts";
import { PaidCalls } from "../../marketplace/payments/paid-calls/store.ts";
import type { PaidCallId } from "../../marketplace/payments/payment-payload.ts";
import { WaitingPosts } from "../../marketplace/waiting-posts.ts";
import { marketTest } from "../support/fixtures.ts";

const test = marketTest();
let copies: readonly [PaidCalls, PaidCalls];
test.beforeAll(async ({ market }) => {
  const { db } = market.context;
  copies = [new PaidCalls(db, 60_000), new PaidCalls(db, 60_000)];
});

const network = "eip155:84532";
const payloadDigestOf = (key: string) => hash("sha256", `payload of ${key}`, "buffer");
const newKey = () => `0xasset:0xpayer:0x${randomBytes(32).toString("hex")}`;
const begin = (copy: PaidCalls, key: string, more: { transaction?: string } = {}) =>
  copy.begin({
    id: { network, key },
    product: "agt_x",
    agentVersion: 1,
    digest: randomBytes(32),
    payloadDigest: payloadDigestOf(key),
    requirements: { scheme: "exact", network, amount: "1", asset: "a", payTo: "b", maxTimeoutSeconds: 180 },
    payer: undefined,
    runId: newId("run"),
    transaction: more.transaction,
    payload: undefined,
    runsUnpaid: more.transaction === undefined,
  });
const buyer = waitingMax({ isHolder: true });
const nameOf = ({ network, key }: PaidCallId) => `${network} ${key}`;
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
  )) as LeasedCall[];
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
      payloadDigest: payloadDigestOf(keys[n]!),
      runId,
      payer: n % 4 ? `payer ${n}` : null,
      transaction: `tx ${n}`,
      output: { kind: "text", text: texts[n] },
      receipt: null,
      deliveredAt: handedOutAt[n],
      leased: false,
      isRecent: true,
      isKept: true,
      agentVersion: 1,
    })),
  );
});

test("whoever has lost a call writes nothing to it, though it is written together with calls that are held", async () => {
  const [copy] = copies;
  const [own, lost] = (await Promise.all([begin(copy, newKey()), begin(copy, newKey())])) as [LeasedCall, LeasedCall];
  await copy.releaseLease(lost);
  const taker = (await copies[1].acquireLease(lost.id, newId("run"), "buyer")) as LeasedCall;
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

test("a post that saw a call with one input does not get it once it is bound to another", async () => {
  const [copy, other] = copies;
  const held = (await begin(copy, newKey(), { transaction: "tx" })) as LeasedCall;
  await copy.releaseLease(held);
  const seen = (await copy.find(held.id))!.digest;
  const taker = (await other.acquireLease(held.id, newId("run"), "buyer", seen)) as LeasedCall;
  const corrected = randomBytes(32);
  expect(await other.rebind(taker, corrected, 1)).toBe(true);
  await other.releaseLease(taker);
  expect(await copy.acquireLease(held.id, newId("run"), "buyer", seen)).toBeUndefined();
  expect(await copy.find(held.id)).toMatchObject({ digest: corrected, leased: false });
  expect(await copy.acquireLease(held.id, newId("run"), "buyer", corrected)).toBeDefined();
});

test("posts of one payment that wait at one copy look at the record together, and never see it older than they ask", async () => {
  const [copy] = copies;
  const [held, other] = (await Promise.all([begin(copy, newKey()), begin(copy, newKey())])) as [LeasedCall, LeasedCall];
  let looks = 0;
  const waiting = new WaitingPosts(nameOf, (id) => {
    looks += 1;
    return copy.find(id);
  });
  const posts = Array.from({ length: 64 }, () => waiting.enter(held.id, buyer)!);
  const found = await Promise.all(posts.map((post, n) => post.look(20 + n)));
  expect(looks).toBe(1);
  expect(found.every((call) => call?.runId === held.runId && call.leased)).toBe(true);

  const begun = posts[0]!.look(0);
  await copy.releaseLease(held);
  const later = posts[1]!.look(5);
  expect((await later)?.leased ?? false).toBe(false);
  await begun;

  expect(waiting.enter(held.id, buyer)).toBeUndefined();
  const beside = waiting.enter(other.id, buyer)!;
  expect(await beside.look(0)).toMatchObject({ runId: other.runId });
  posts[0]!.leave();
  expect(waiting.enter(held.id, buyer)).toBeDefined();
});

test("strangers leave places to the buyer of a payment", () => {
  const waiting = new WaitingPosts(nameOf, async () => undefined);
  const id = { network, key: "k" };
  const strangers = Array.from({ length: 100 }, () => waiting.enter(id, waitingMax({ isHolder: false })));
  expect(strangers.filter(Boolean)).toHaveLength(32);
  expect(Array.from({ length: 100 }, () => waiting.enter(id, buyer)).filter(Boolean)).toHaveLength(32);
});

test("a look that fails is the failure of those who share it, and the next one is another", async () => {
  let isAway = true;
  const waiting = new WaitingPosts(nameOf, async () => {
    if (isAway) throw new Error("away");
    return undefined;
  });
  const posts = [1, 2].map(() => waiting.enter({ network, key: "k" }, buyer)!);
  expect(await Promise.allSettled(posts.map((post) => post.look(1)))).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  isAway = false;
  expect(await posts[0]!.look(1)).toBeUndefined();
});
