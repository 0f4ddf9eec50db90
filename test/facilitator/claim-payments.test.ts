import { expect } from "vitest";
import type { Claim, Payment, SignedClaim } from "../../facilitator/schemes/scheme.ts";
import { SettlementStore } from "../../facilitator/settlements/store.ts";
import { type Database, inTransaction, isUniqueViolation } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";

const test = recordTest();
const network = "claimed together";
const terms = { resourceUrl: undefined, failuresMax: 1, failuresPerDayMax: 0 };

const paymentOf = (key: string, more: Partial<Payment> = {}): Payment => ({
  ...{ key, payer: `payer of ${key}`, payTo: "shop", asset: "coin", amount: 5n, messageDigest: Buffer.from(key) },
  expiresAt: new Date(Date.now() + 600_000),
  ...more,
});

const claimOf = (store: SettlementStore, payment: Payment, more = {}) =>
  store.claim(network, "exact", payment, { ...terms, ...more });

async function rowsOf(db: Database, prefix: string) {
  const { rows } = await db.query(
    `select payment_key as key, state, claim_token as token, payer, resource_url as resource, offer, terms_digest as terms,
            message_digest as digest, raw_transactions as raw, transaction_id as tx, fee_payer as "feePayer", signed_transactions as signed
       from payments where network = $1 and payment_key like $2 order by payment_key`,
    [network, `${prefix}%`],
  );
  return rows;
}

test("payments that are claimed at the same time each keep what is theirs", async ({ db }) => {
  const store = new SettlementStore(db);
  const listingRequest = { text: "offer", digest: Buffer.from("digest") };
  const [plain, listed] = await Promise.all([
    claimOf(store, paymentOf("own 1")),
    claimOf(store, paymentOf("own 2"), { resourceUrl: "https://shop.example/x", termsDigest: "terms", listingRequest }),
  ]);
  const common = { state: "claimed", raw: null, tx: null, feePayer: null, signed: [] };
  const [first, second] = [
    { ...common, key: "own 1", token: plain?.token, payer: "payer of own 1", digest: Buffer.from("own 1") },
    { ...common, key: "own 2", token: listed?.token, payer: "payer of own 2", digest: Buffer.from("own 2") },
  ];
  expect(await rowsOf(db, "own")).toEqual([
    { ...first, resource: null, offer: null, terms: null },
    { ...second, resource: "https://shop.example/x", offer: "offer", terms: "terms" },
  ]);
});

test("of any number that claim payments at the same time, on two copies, one gets each", async ({ db }) => {
  const copies = [new SettlementStore(db), new SettlementStore(db)];
  const keys = Array.from({ length: 40 }, (_, index) => `raced ${index}`);
  const claims = await Promise.all(
    copies.flatMap((store, copy) =>
      (copy === 0 ? keys : keys.toReversed()).flatMap((key) => [1, 2].map(() => claimOf(store, paymentOf(key)))),
    ),
  );
  const won = claims.filter((claim) => claim !== undefined);
  expect(won).toHaveLength(keys.length);
  expect((await rowsOf(db, "raced")).map(({ token }) => token).toSorted()).toEqual(
    won.map(({ token }) => token).toSorted(),
  );
});

test("what one of them may not have, or the database will not store, keeps none of the others", async ({ db }) => {
  await db.query("insert into payer_failures (network, payer) values ($1, 'cooling')", [network]);
  const store = new SettlementStore(db);
  const claims = await Promise.allSettled([
    claimOf(store, paymentOf("mixed 1", { payer: "cooling" })),
    // The same payment as another payer's, who may.
    claimOf(store, paymentOf("mixed 1")),
    claimOf(store, paymentOf("mixed 2"), { resourceUrl: "a zero byte\u0000" }),
    claimOf(store, paymentOf("mixed 3", { payer: "cooling" }), { failuresMax: 0 }),
  ]);
  const [cooling, allowed, unstorable, unlimited] = claims;
  expect(cooling).toEqual({ status: "fulfilled", value: undefined });
  expect(allowed).toMatchObject({ status: "fulfilled", value: { id: expect.any(BigInt) } });
  expect(unstorable?.status).toBe("rejected");
  expect(unlimited).toMatchObject({ status: "fulfilled", value: { id: expect.any(BigInt) } });
  expect((await rowsOf(db, "mixed")).map(({ key, payer }) => [key, payer])).toEqual([
    ["mixed 1", "payer of mixed 1"],
    ["mixed 3", "cooling"],
  ]);
});

test("what is signed at the same time is stored with its own payment, and not for who lost the claim", async ({
  db,
}) => {
  const store = new SettlementStore(db);
  const keys = ["sent 1", "sent 2", "sent 3"];
  const claims = (await Promise.all(keys.map((key) => claimOf(store, paymentOf(key))))) as [Claim, Claim, Claim];
  const [one, two, three] = claims;
  const raw = ["a", "bb", "ccc"].map((text) => Buffer.from(text));
  const recorded = await Promise.all([
    store.recordBroadcast(one, { transaction: "tx 1", raw: raw.slice(0, 2), feePayer: "payer 1" }),
    store.recordBroadcast({ ...two, token: one.token }, { transaction: "tx 2", raw, feePayer: "payer 2" }),
    store.recordBroadcast(three, { transaction: "tx 3", raw: raw.slice(2), feePayer: "payer 3" }),
    store.recordBroadcast(three, { transaction: "tx 3 again", raw, feePayer: "payer 3" }),
  ]);
  expect(recorded).toEqual([true, false, true, false]);
  const rows = await rowsOf(db, "sent");
  expect(rows.map(({ state, tx, raw, feePayer, signed }) => ({ state, tx, raw, feePayer, signed }))).toEqual([
    { state: "broadcast", tx: "tx 1", raw: raw.slice(0, 2), feePayer: "payer 1", signed: ["tx 1"] },
    { state: "claimed", tx: null, raw: null, feePayer: null, signed: [] },
    { state: "broadcast", tx: "tx 3", raw: raw.slice(2), feePayer: "payer 3", signed: ["tx 3"] },
  ]);
  expect(await store.recordBroadcast(one, { transaction: "tx 4", raw, feePayer: "payer 1" })).toBe(false);
});

const signedOf = (key: string, more: Partial<Payment> = {}): SignedClaim => ({
  wanted: { network, scheme: "exact", payment: paymentOf(key, more), terms },
  broadcast: { transaction: `tx of ${key}`, raw: [Buffer.from(`raw of ${key}`)], feePayer: "payer", nonce: 7n },
});

test("new payments are claimed with what is signed for them, each with its own; who may not have one is told before", async ({
  db,
}) => {
  await db.query("insert into payer_failures (network, payer) values ($1, 'cooling down')", [network]);
  const store = new SettlementStore(db);
  await claimOf(store, paymentOf("new 1"));
  const signed = ["new 1", "new 2", "new 3", "new 2"].map((key) => signedOf(key));
  signed.push(signedOf("new 4", { payer: "cooling down" }));
  const wanted = signed.map((one) => one.wanted);
  expect(await store.claimable(db, wanted)).toEqual([false, true, true, false, false]);
  const [two, three] = await store
    .claimSigned(db, signed.slice(1, 3).toReversed())
    .then((claims) => claims.toReversed());
  const rows = (await rowsOf(db, "new")).slice(1);
  expect(rows.map(({ key, token, state, tx, raw, signed }) => ({ key, token, state, tx, raw, signed }))).toEqual(
    [two, three].map((claim, index) => ({
      ...{ key: `new ${index + 2}`, token: claim?.token, state: "broadcast", tx: `tx of new ${index + 2}` },
      ...{ raw: [Buffer.from(`raw of new ${index + 2}`)], signed: [`tx of new ${index + 2}`] },
    })),
  );
  expect(await store.finish(two as Claim, { outcome: "settled", transaction: "tx of new 2" }, 5, true)).toBe(true);
});

test("what another caller has claimed meanwhile is not claimed with what is signed, and nothing else of it is stored", async ({
  db,
}) => {
  const store = new SettlementStore(db);
  const winner = await claimOf(store, paymentOf("quick 2"));
  const late = inTransaction(db, (tx) => store.claimSigned(tx, [signedOf("quick 1"), signedOf("quick 2")]));
  await expect(late).rejects.toSatisfy((error) => isUniqueViolation(error));
  expect((await rowsOf(db, "quick")).map(({ key, token }) => [key, token])).toEqual([["quick 2", winner?.token]]);
});

test("of any number that claim payments with what they signed, on two copies, one gets each, and none keeps another from its own", async ({
  db,
}) => {
  await db.query("insert into payer_failures (network, payer) values ($1, 'cools down')", [network]);
  const copies = [new SettlementStore(db), new SettlementStore(db)];
  const before = await claimOf(copies[0]!, paymentOf("signed 0"));
  const keys = Array.from({ length: 40 }, (_, index) => `signed ${index}`);
  const claims = await Promise.all(
    copies.flatMap((store, copy) =>
      (copy === 0 ? keys : keys.toReversed()).flatMap((key) =>
        [1, 2].map(() => store.claimOneSigned(signedOf(key, key === "signed 7" ? { payer: "cools down" } : {}))),
      ),
    ),
  );
  const won = claims.filter((claim) => claim !== undefined);
  expect(won).toHaveLength(keys.length - 2);
  const rows = await rowsOf(db, "signed");
  expect(rows.map(({ token }) => token).toSorted()).toEqual([before, ...won].map((claim) => claim?.token).toSorted());
  expect(
    rows.slice(1).map(({ key, state, tx, raw, feePayer, signed }) => [key, state, tx, raw, feePayer, signed]),
  ).toEqual(
    rows
      .slice(1)
      .map(({ key }) => [key, "broadcast", `tx of ${key}`, [Buffer.from(`raw of ${key}`)], "payer", [`tx of ${key}`]]),
  );
});

test("what was taken back, failed and is claimed anew has not been taken back", async ({ db }) => {
  const store = new SettlementStore(db);
  await claimOf(store, paymentOf("anew"));
  await db.query(
    "update payments set state = 'failed', retryable = true, finished_at = now(), taken_back_at = now() where payment_key = 'anew'",
  );
  expect(await claimOf(store, paymentOf("anew"))).toBeDefined();
  const { rows } = await db.query("select state, taken_back_at from payments where payment_key = 'anew'");
  expect(rows).toEqual([{ state: "claimed", taken_back_at: null }]);
});
