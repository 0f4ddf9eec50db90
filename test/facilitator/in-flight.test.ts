import fc from "fast-check";
import { describe, expect } from "vitest";
import { HoldStore } from "../../facilitator/holds/store.ts";
import { parsePaymentRequest } from "../../facilitator/payment-request.ts";
import type { Payment, PaymentRequest } from "../../facilitator/schemes/scheme.ts";
import type { LocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { newLedgerBuyer } from "../bench/ledger-process.ts";
import { documented } from "../support/documented.ts";
import { elapse } from "../support/elapse.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { newBuyer, paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { hederaProof } from "../support/hedera-payments.ts";
import { keptAll, perFile } from "../support/part.ts";
import { statements } from "../support/statements.ts";

type Copies = ReadonlyArray<Awaited<ReturnType<typeof startFacilitator>>>;
const test = chainsTest({ consensusDelayMs: 5 }).extend("copies", perFile, ({ forBoth }, { onCleanup }) =>
  keptAll(
    [1, 2].map(() => startFacilitator(forBoth).then(documented)),
    onCleanup,
  ),
);

const one = (copies: Copies) => copies[0]!;
const two = (copies: Copies) => copies[1]!;
const price = 10_000n;

/** Makes payments of `price` out of one wallet that holds so much. */
type Wallet = (chains: Chains, units: bigint) => Promise<() => Promise<object>>;

interface Chains {
  readonly setting: EvmSetting;
  readonly ledger: LocalHedera;
}

async function evmWallet({ setting }: Pick<Chains, "setting">, units: bigint) {
  const buyer = await setting.fundedBuyer(units);
  return () => paymentBody(buyer, setting.terms);
}

async function hederaWallet({ ledger }: Pick<Chains, "ledger">, units: bigint) {
  const buyer = await newLedgerBuyer({ admin: ledger.adminUrl, usdc: ledger.usdc }, units);
  const terms = {
    scheme: "exact",
    network: "hedera:testnet",
    asset: ledger.usdc,
    amount: String(price),
    payTo: ledger.accounts.creator.accountId,
    maxTimeoutSeconds: 120,
    extra: { feePayer: ledger.accounts.feePayer.accountId },
  };
  return async () => ({
    paymentPayload: await hederaProof(buyer, terms, { url: "https://a.example.com" }),
    paymentRequirements: terms,
  });
}

describe.each<[string, Wallet, string]>([
  ["EVM", evmWallet, "invalid_exact_evm_insufficient_balance"],
  ["Hedera", hederaWallet, "invalid_exact_hedera_payload_preflight_failed"],
])("the payments of a wallet on %s", (_, wallet, insufficient) => {
  const inFlight = {
    isValid: false,
    invalidReason: insufficient,
    invalidMessage: expect.stringContaining("in flight"),
  };

  test("of payments verified at once on two copies no more are good than the balance covers together", async ({
    setting,
    ledger,
    copies,
  }) => {
    const pay = await wallet({ setting, ledger }, 3n * price);
    const bodies = await Promise.all(Array.from({ length: 12 }, pay));
    const answers = await Promise.all(bodies.map((body, index) => copies[index % 2]!.verify(body)));
    expect(answers.filter(({ body }) => body.isValid)).toHaveLength(3);
    for (const { body } of answers.filter(({ body: { isValid } }) => !isValid)) expect(body).toMatchObject(inFlight);
    const good = bodies.filter((__, index) => answers[index]?.body.isValid);
    for (const body of good) expect((await two(copies).settle(body)).body).toMatchObject({ success: true });
  });

  test("the same payment is counted once, however often and wherever it is verified", async ({
    setting,
    ledger,
    copies,
  }) => {
    const body = await (await wallet({ setting, ledger }, price))();
    const answers = await Promise.all(Array.from({ length: 40 }, (__, index) => copies[index % 2]!.verify(body)));
    for (const answer of answers) expect(answer.body).toMatchObject({ isValid: true, holdId: expect.any(String) });
    expect(new Set(answers.map((answer) => answer.body.holdId)).size).toBe(40);
    expect((await one(copies).settle(body)).body).toMatchObject({ success: true });
  });

  test("what is released is free at once; what another verifier of the same payment holds is not", async ({
    setting,
    ledger,
    copies,
  }) => {
    const pay = await wallet({ setting, ledger }, price);
    const [first, second] = [await pay(), await pay()];
    const mine = (await one(copies).verify(first)).body.holdId as string;
    const theirs = (await two(copies).verify(first)).body.holdId as string;
    expect((await two(copies).verify(second)).body).toMatchObject(inFlight);
    expect(await two(copies).post("/release", { holdId: mine })).toMatchObject({
      status: 200,
      body: { released: true },
    });
    expect((await one(copies).verify(second)).body).toMatchObject(inFlight);
    expect((await one(copies).post("/release", { holdId: mine })).body).toEqual({ released: false });
    expect((await one(copies).verify(second)).body).toMatchObject(inFlight);
    expect((await one(copies).post("/release", { holdId: theirs })).body).toEqual({ released: true });
    expect((await two(copies).verify(second)).body).toMatchObject({ isValid: true });
    expect((await one(copies).verify(first)).body).toMatchObject(inFlight);
  });

  test("a wallet pays one after the other down to its last unit, with and without /verify", async ({
    setting,
    ledger,
    copies,
  }) => {
    const pay = await wallet({ setting, ledger }, 5n * price);
    for (let paid = 0; paid < 5; paid += 1) {
      const body = await pay();
      const copy = copies[paid % 2]!;
      if (paid !== 2)
        expect((await copy.verify(body)).body).toEqual({
          isValid: true,
          payer: expect.any(String),
          holdId: expect.any(String),
        });
      expect((await copy.settle(body)).body).toMatchObject({ success: true });
      expect((await copies[(paid + 1) % 2]!.verify(body)).body).toMatchObject({ isValid: false });
    }
    expect((await one(copies).verify(await pay())).body.isValid).toBe(false);
  });

  test("a payment that is being settled counts, whoever verified it or did not, and cannot be released", async ({
    setting,
    ledger,
    copies,
  }) => {
    const pay = await wallet({ setting, ledger }, price);
    const [first, second] = [await pay(), await pay()];
    const { holdId } = (await one(copies).verify(first)).body;
    const { db } = one(copies).context;
    // The end of the settlement cannot be recorded as long as the test holds the lock.
    await db.query(
      `create function wait_for_lock() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
       create trigger wait_for_lock before update on payments for each row when (new.state = 'settled') execute function wait_for_lock()`,
    );
    const holder = await db.connect();
    // A pooler may give another statement's session away, and never one in a transaction.
    await holder.query("begin");
    await holder.query("set local idle_in_transaction_session_timeout = 0");
    await holder.query("select pg_advisory_xact_lock(1)");
    try {
      const settling = one(copies).settle(first);
      await expect.poll(() => unfinished(copies)).toBe(1);
      expect((await two(copies).post("/release", { holdId })).status).toBe(200);
      expect((await two(copies).verify(second)).body.isValid).toBe(false);
      await holder.query("commit");
      expect((await settling).body).toMatchObject({ success: true });
    } finally {
      holder.release(true);
      await db.query("drop function wait_for_lock cascade");
    }
  });
});

const unfinished = async (copies: Copies) =>
  (
    await one(copies).context.db.query(
      "select count(*)::int as n from payments where state in ('claimed', 'broadcast')",
    )
  ).rows[0].n;

describe.each<[string, Wallet]>([
  ["EVM", evmWallet],
  ["Hedera", hederaWallet],
])("a settlement from a wallet on %s", (_, wallet) => {
  test("leaves alone what was verified for another caller, and nothing is sent that the others leave nothing for", async ({
    setting,
    ledger,
    copies,
  }) => {
    const pay = await wallet({ setting, ledger }, price);
    const held = await pay();
    expect((await one(copies).verify(held)).body.isValid).toBe(true);
    expect((await two(copies).settle(await pay())).body.success).toBe(false);
    expect((await one(copies).settle(held)).body.success).toBe(true);

    const payOften = await wallet({ setting, ledger }, price);
    const bodies = await Promise.all(Array.from({ length: 20 }, payOften));
    const answers = await Promise.all(bodies.map((body, n) => copies[n % 2]!.settle(body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.transaction !== "")).toHaveLength(1);
  });

  test("holds nothing any more once it was refused", async ({ setting, ledger, copies }) => {
    const pay = await wallet({ setting, ledger }, price);
    const [first, second] = [await pay(), await pay()];
    const { holdId } = (await one(copies).verify(first)).body;
    expect((await two(copies).settle(second)).body.success).toBe(false);
    await one(copies).post("/release", { holdId });
    expect((await two(copies).settle(second)).body.success).toBe(true);
  });
});

test("verifying and releasing payments of the same payers on two copies never ends in a deadlock", async ({
  setting,
}) => {
  const url = setting.variables.FACILITATOR_DATABASE_URL as string;
  const [db, otherDb] = [1, 2].map((n) => connect(url, { poolMax: 10, statements, applicationName: `copy ${n}` }));
  const [store, otherStore] = [new HoldStore(db!), new HoldStore(otherDb!)];
  const payers = Array.from({ length: 12 }, (_, n) => `payer ${String(n).padStart(2, "0")}`);
  const payment = (payer: string): Payment => ({
    ...{ key: `key of ${payer}`, payer, payTo: "shop", asset: "coin", amount: 1n, messageDigest: Buffer.alloc(32) },
    expiresAt: new Date(Date.now() + 600_000),
  });
  try {
    // Their ids run against the order of their payers.
    for (const payer of payers.toReversed()) await store.placeHold("n", payment(payer), 1_000n);
    let held: string[] = [];
    for (let round = 0; round < 100; round += 1) {
      const releasing = Promise.all(held.map((holdId) => otherStore.release(holdId)));
      const placed = await Promise.all(payers.map((payer) => store.placeHold("n", payment(payer), 1_000n)));
      await releasing;
      held = placed.flatMap((result) => ("holdId" in result ? [result.holdId] : []));
    }
    expect(held).toHaveLength(payers.length);
  } finally {
    await Promise.all([db!.end(), otherDb!.end()]);
  }
});

test("what is asked for at once is held as if it were asked for one after the other, and each payer's total is the sum of the holds", async ({
  setting,
}) => {
  const db = connect(setting.variables.FACILITATOR_DATABASE_URL as string, {
    poolMax: 2,
    statements,
    applicationName: "at once",
  });
  const store = new HoldStore(db);
  const wanted = fc.record({
    payer: fc.constantFrom("payer a", "payer b"),
    key: fc.constantFrom(..."1234567890"),
    amount: fc.bigInt({ min: 1n, max: 9n }),
    balance: fc.bigInt({ min: 0n, max: 40n }),
  });
  const batches = fc.array(fc.array(wanted, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(batches, async (asked) => {
        run += 1;
        const network = `at once ${run}`;
        const held = new Map<string, Map<string, bigint>>();
        for (const batch of asked) {
          const inOrder = batch.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
          const expected = inOrder.map(({ payer, key, amount, balance }) => {
            const of = held.get(payer) ?? new Map<string, bigint>();
            const others = [...of].reduce((sum, [other, units]) => (other === key ? sum : sum + units), 0n);
            if (others + amount > balance) return { held: false, others };
            held.set(payer, of.set(key, amount > (of.get(key) ?? 0n) ? amount : of.get(key)!));
            return { held: true, others };
          });
          const results = await Promise.all(
            inOrder.map(({ payer, key, amount, balance }) =>
              store.placeHold(network, { ...unsettled, key, payer, amount }, balance),
            ),
          );
          expect(
            results.map((result) => ({ held: "holdId" in result, others: "inFlight" in result && result.inFlight })),
          ).toEqual(expected);
        }
        const { rows } = await db.query("select payer, total from payers_in_flight where network = $1 and total > 0", [
          network,
        ]);
        const totals = [...held].map(([payer, of]) => [
          payer,
          [...of.values()].reduce((sum, units) => sum + units, 0n),
        ]);
        expect(Object.fromEntries(rows.map(({ payer, total }) => [payer, BigInt(total)]))).toEqual(
          Object.fromEntries(totals),
        );
      }),
      { numRuns: 60 },
    );
  } finally {
    await db.end();
  }
});

const unsettled = {
  payTo: "shop",
  asset: "coin",
  messageDigest: Buffer.alloc(32),
  expiresAt: new Date(Date.now() + 600_000),
};

test("a payment that is claimed while its hold waits for a lock is answered with as it was claimed", async ({
  setting,
  copies,
}) => {
  const url = setting.variables.FACILITATOR_DATABASE_URL as string;
  const db = connect(url, { poolMax: 4, statements, applicationName: "waiting" });
  const [store, network] = [new HoldStore(db), "waiting"];
  const [first, asked] = ["payer a", "payer b"].map(
    (payer): Payment => ({
      ...{ key: `key of ${payer}`, payer, payTo: "shop", asset: "coin", amount: 1n, messageDigest: Buffer.alloc(32) },
      expiresAt: new Date(Date.now() + 600_000),
    }),
  ) as [Payment, Payment];
  const settlements = one(copies).context.store;
  const terms = { resourceUrl: undefined, failuresMax: 0, failuresPerDayMax: 0 };
  const another = await db.connect();
  try {
    const opened = await settlements.claim(network, "exact", asked, terms);
    await settlements.openClaim(opened!);
    await store.placeHold(network, first, 1_000n);
    await another.query("begin");
    await another.query("select from payers_in_flight where network = $1 for update", [network]);
    const placing = Promise.all([first, asked].map((payment) => store.placeHold(network, payment, 1_000n)));
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    expect(await settlements.claim(network, "exact", asked, terms)).toBeDefined();
    await another.query("commit");
    expect((await placing)[1]).toMatchObject({ record: { state: "claimed", retryable: false } });
  } finally {
    another.release();
    await db.query("delete from payments where network = $1", [network]);
    await db.end();
  }
});

async function waitingForLocks(db: Database): Promise<number> {
  const { rows } = await db.query(
    `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%place_holds%'`,
  );
  return rows.length;
}

describe("a mirror that lags", () => {
  test("does not let a wallet spend twice what it has just paid, and lets it go on when it has caught up", async ({
    ledger,
    copies,
  }) => {
    const pay = await hederaWallet({ ledger }, 2n * price);
    const [first, second, third] = [await pay(), await pay(), await pay()];
    ledger.faults.set({ mirrorLagMs: 1_500 });
    await elapse(1_600, "the wallet is older than the mirror's lag");
    try {
      expect((await one(copies).settle(first)).body).toMatchObject({ success: true });
      // The mirror still shows two; one is spent.
      expect((await one(copies).verify(second)).body).toMatchObject({ isValid: true });
      expect((await two(copies).verify(third)).body).toMatchObject({ isValid: false });
      await expect.poll(async () => (await two(copies).settle(second)).body.success).toBe(true);
    } finally {
      ledger.faults.clear();
    }
  });
});

test("what a stranger posts in a payer's name holds nothing of the payer's", async ({ setting, copies }) => {
  const buyer = await setting.fundedBuyer(price);
  const body = await paymentBody(buyer, setting.terms);
  for (let tries = 0; tries < 5; tries += 1) {
    const forged = await paymentBody(buyer, setting.terms);
    forged.paymentPayload.payload.signature = `0x${"11".repeat(65)}`;
    expect((await one(copies).verify(forged)).body.isValid).toBe(false);
  }
  expect((await two(copies).verify(body)).body).toMatchObject({ isValid: true });
});

test("of different payments signed with one nonce only one is promised at a time, however rich the payer and however many copies are asked", async ({
  setting,
  copies,
}) => {
  const buyer = await setting.fundedBuyer(100n * price);
  const { nonce } = (await paymentBody(buyer, setting.terms)).paymentPayload.payload.authorization;
  const toMany = Array.from({ length: 8 }, () =>
    paymentBody(buyer, { ...setting.terms, payTo: newBuyer().address }, { nonce }),
  );
  const bodies = await Promise.all(toMany);
  const answers = await Promise.all(bodies.map((body, index) => copies[index % 2]!.verify(body)));
  const good = answers.findIndex(({ body }) => body.isValid);
  const bad = answers.filter((_, index) => index !== good);
  expect(good).not.toBe(-1);
  for (const { body } of bad)
    expect(body).toMatchObject({ isValid: false, invalidReason: "invalid_transaction_state" });
  const other = bodies[(good + 1) % bodies.length]!;
  expect((await two(copies).settle(other)).body).toMatchObject({
    success: false,
    errorReason: "invalid_transaction_state",
    transaction: "",
  });
  const { holdId } = answers[good]!.body;
  expect((await one(copies).post("/release", { holdId })).body).toEqual({ released: true });
  expect((await two(copies).verify(other)).body).toMatchObject({ isValid: true });
  expect((await one(copies).settle(other)).body).toMatchObject({ success: true });
});

test("a claim whose holder is gone holds no longer than a verification, though the authorization is good for years", async ({
  setting,
  copies,
}) => {
  const { db, store, schemes } = one(copies).context;
  const buyer = await setting.fundedBuyer(price);
  const validBefore = String(Math.floor(Date.now() / 1_000) + 10 ** 8);
  const body = await paymentBody(buyer, setting.terms, { validBefore });
  const scheme = schemes.openOn("eip155:84532")!;
  const payment = scheme.decode(parsePaymentRequest(body) as PaymentRequest) as Payment;
  const terms = { resourceUrl: undefined, termsDigest: undefined, failuresMax: 0, failuresPerDayMax: 0 };
  const claim = await store.claim("eip155:84532", "exact", payment, terms);
  const held = async () => {
    const { rows } = await db.query(
      "select releasable, until < now() + interval '181 seconds' as ends from payment_holds where payment_key = $1",
      [payment.key],
    );
    return rows[0];
  };
  expect(await held()).toEqual({ releasable: false, ends: false });
  await store.openClaim(claim!);
  expect(await held()).toEqual({ releasable: true, ends: true });
  const { holdId } = (await two(copies).verify(body)).body;
  expect((await two(copies).verify(await paymentBody(buyer, setting.terms))).body.isValid).toBe(false);
  expect((await two(copies).post("/release", { holdId })).body).toEqual({ released: true });
  expect((await two(copies).verify(await paymentBody(buyer, setting.terms))).body.isValid).toBe(true);
  const again = await store.claim("eip155:84532", "exact", payment, terms);
  expect(await held()).toEqual({ releasable: false, ends: false });
  await store.openClaim(again!);
  expect(await held()).toEqual({ releasable: true, ends: true });
  // It was slow, and is not gone.
  const sent = { transaction: `0x${"ab".repeat(32)}`, raw: [], feePayer: setting.signer };
  expect(await store.recordBroadcast(again!, sent)).toBe(true);
  expect(await held()).toEqual({ releasable: false, ends: false });
});

test("holds that are over are swept away, and their payers with them", async ({ setting, copies }) => {
  const { db } = one(copies).context;
  const pay = await evmWallet({ setting }, price);
  await one(copies).verify(await pay());
  await db.query("update payment_holds set until = now() - interval '1 second'");
  expect((await two(copies).verify(await pay())).body).toMatchObject({ isValid: true });
  await db.query("update payment_holds set until = now() - interval '1 second'");
  // What a background sweep has in hand meanwhile is left to it.
  const left = async () => {
    await db.query("select sweep_holds(1000)");
    const [holds, payers] = await Promise.all(
      ["payment_holds", "payers_in_flight"].map((table) => db.query(`select from ${table}`)),
    );
    return [holds?.rowCount, payers?.rowCount];
  };
  await expect.poll(left).toEqual([0, 0]);
});

test.for([
  ["no JSON object", [], undefined],
  ["nothing", {}, "holdId"],
  ["a number", { holdId: 7 }, "holdId"],
  ["an object that calls itself a text", { holdId: { toString: 1 } }, "holdId"],
  ["somebody's text", { holdId: "hold_1_x" }, "holdId"],
])("/release of %s is a 400", async ([_, body, field], { copies }) => {
  const answer = await one(copies).post("/release", body);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toEqual(expect.any(String));
  if (field) expect(answer.body.field).toBe(field);
});

test("/release of what never was is no error", async ({ copies }) => {
  const holdId = "hold_999999999_00000000-0000-4000-8000-000000000000";
  expect(await one(copies).post("/release", { holdId })).toMatchObject({ status: 200, body: { released: false } });
});

test("what the payer signed and the chain refuses ties up nothing once it is refused, and a full wallet's last payment holds", async ({
  setting,
  copies,
}) => {
  const buyer = await setting.fundedBuyer(price);
  const dead = await Promise.all(
    Array.from({ length: 12 }, () => paymentBody(buyer, { ...setting.terms, name: "Another token's name" })),
  );
  const refused = await Promise.all(dead.map((body, index) => copies[index % 2]!.verify(body)));
  for (const { body } of refused) expect(body).toMatchObject({ isValid: false });
  const held = async () => (await one(copies).verify(await paymentBody(buyer, setting.terms))).body;
  expect(await held()).toMatchObject({ isValid: true });
  expect(await held()).toMatchObject({ isValid: false, invalidReason: "invalid_exact_evm_insufficient_balance" });
});
