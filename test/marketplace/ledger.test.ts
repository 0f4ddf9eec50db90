import fc from "fast-check";
import { expect } from "vitest";
import { changeKey } from "../../marketplace/api-keys/change.ts";
import type { Context } from "../../marketplace/context.ts";
import { credits, platformFee } from "../../marketplace/credits/amount.ts";
import { foldEarnings, readBalances } from "../../marketplace/credits/balance.ts";
import { capture, hold, release } from "../../marketplace/credits/holds.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { moveEarnings } from "../../marketplace/credits/transfer.ts";
import { newId, type RunId } from "../../marketplace/ids.ts";
import { deleteOldRuns, recoverLostRuns } from "../../marketplace/runs/recover.ts";
import { appTest } from "../support/fixtures.ts";
import { type Market, proveLedger, seedMarket, spendable } from "../support/marketplace.ts";

// Nothing runs in the background, which would end the lapsed runs before the test does.
const test = appTest();

const holdFor = (
  context: Context,
  seeded: Market,
  price: bigint,
  id: RunId = newId("run"),
  maxCreditsPerDay?: bigint,
) =>
  hold(context.db, {
    id,
    accountId: seeded.buyer.id,
    key: {
      id: seeded.keyId as `key_${string}`,
      ...(maxCreditsPerDay !== undefined && { maxCreditsPerDay: credits(maxCreditsPerDay) }),
    },
    agentId: seeded.agent.agentId,
    agentVersion: seeded.agent.version,
    priceCredits: credits(price),
    leaseMs: 600_000,
  }).then(({ outcome }) => (outcome === "held" ? id : null));

const captureOf = (context: Context, seeded: Market, id: RunId, fee = 0n) =>
  capture(context.db, {
    id,
    creatorId: seeded.creator.id,
    fee: credits(fee),
    outputJson: '{"kind":"text","text":"x"}',
  });
const releaseOf = (context: Context, id: RunId) => release(context.db, { id, state: "failed", error: "It failed." });

test("whatever is granted, held, captured and released, credits are neither created nor lost", async ({ context }) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("grant" as const), amount: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant("hold" as const), amount: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ kind: fc.constantFrom("capture" as const, "release" as const), pick: fc.nat() }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.integer({ min: 0, max: 9_999 }),
      async (steps, basisPoints) => {
        const seeded = await seedMarket(context, { balance: 0 });
        const model = { spendable: 0n, earned: 0n, open: new Map<RunId, bigint>(), ended: new Map<RunId, object>() };
        for (const { kind, ...rest } of steps) {
          if (kind === "grant") {
            const amount = BigInt((rest as { amount: number }).amount);
            await grant(context.db, { accountId: seeded.buyer.id, credits: credits(amount) });
            model.spendable += amount;
          } else if (kind === "hold") {
            const price = BigInt((rest as { amount: number }).amount);
            const id = await holdFor(context, seeded, price);
            expect(id !== null).toBe(model.spendable >= price);
            if (id) {
              model.open.set(id, price);
              model.spendable -= price;
            }
          } else {
            const known = [...model.open.keys(), ...model.ended.keys()];
            const id = known[(rest as { pick: number }).pick % known.length];
            if (!id) continue;
            const price = model.open.get(id);
            const fee = platformFee(credits(price ?? 0n), basisPoints);
            const resolved =
              kind === "capture" ? await captureOf(context, seeded, id, fee) : await releaseOf(context, id);
            const state = kind === "capture" ? "succeeded" : "failed";
            if (price === undefined) {
              expect(resolved).toEqual({ endedHere: false, ...model.ended.get(id) });
            } else {
              expect(resolved).toMatchObject({ endedHere: true, state });
              model.open.delete(id);
              if (kind === "capture") model.earned += price - fee;
              else model.spendable += price;
              expect(resolved.creditsRemaining).toBe(model.spendable);
              model.ended.set(id, { state, creditsRemaining: model.spendable });
            }
          }
        }
        const [buyer, creator] = await readBalances(context.db, [seeded.buyer.id, seeded.creator.id]);
        const held = [...model.open.values()].reduce((sum, price) => sum + price, 0n);
        expect(buyer).toMatchObject({ credits: model.spendable, held });
        expect(creator).toMatchObject({ earned: model.earned });
        for (const id of model.open.keys()) await releaseOf(context, id);
      },
    ),
    { numRuns: 40 },
  );
  await proveLedger(context);
});

test("whatever happens at once, between whichever accounts, every promise of the ledger holds afterwards", async ({
  context,
}) => {
  const seeds = [await seedMarket(context, { balance: 0 }), await seedMarket(context, { balance: 0 })];
  const amount = fc.integer({ min: 1, max: 20 });
  const act = fc.record({
    who: fc.nat(1),
    amount,
    pick: fc.nat(),
    kind: fc.constantFrom("grant", "purchase", "hold", "hold", "hold", "capture", "capture", "release", "transfer"),
  });
  const { db } = context;
  const begun: Array<{ id: RunId; seeded: Market; price: bigint }> = [];
  const perform = async ({ who, amount, pick, kind }: { who: number; amount: number; pick: number; kind: string }) => {
    const seeded = seeds[who]!;
    const some = credits(BigInt(amount));
    const run = begun[pick % Math.max(1, begun.length)];
    switch (kind) {
      case "grant":
        return grant(db, { accountId: seeded.buyer.id, credits: some });
      case "purchase":
        // A few payments are reported more than once, to one account or to both.
        return grant(db, {
          kind: "purchase",
          accountId: seeded.buyer.id,
          credits: some,
          reference: `paid ${pick % 9}`,
        });
      case "hold": {
        const id = await holdFor(context, seeded, BigInt(amount));
        if (id) begun.push({ id, seeded, price: BigInt(amount) });
        return;
      }
      case "capture":
        return run && captureOf(context, run.seeded, run.id, run.price / 3n);
      case "release":
        return run && releaseOf(context, run.id);
      default:
        return moveEarnings(db, seeded.creator.id, some).catch((error) => expect(error.code).toBe("invalid_value"));
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(act, { minLength: 1, maxLength: 12 }), { maxLength: 6 }), async (rounds) => {
      for (const round of rounds) await Promise.all(round.map(perform));
      const { issued, spendable, held, earned, fees } = await proveLedger(context);
      expect(spendable + held + earned + fees).toBe(issued);
    }),
    { numRuns: 30 },
  );
  for (const { id } of begun) await releaseOf(context, id);
});

test("a run captured and released twenty times at once ends once", async ({ context }) => {
  const seeded = await seedMarket(context, { balance: 10 });
  for (let round = 0; round < 5; round += 1) {
    const before = await spendable(context, seeded.buyer);
    const id = (await holdFor(context, seeded, 2n))!;
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? captureOf(context, seeded, id, 1n) : releaseOf(context, id))),
    );
    expect(ends.filter(({ endedHere }) => endedHere)).toHaveLength(1);
    expect(new Set(ends.map(({ state }) => state)).size).toBe(1);
    expect(await spendable(context, seeded.buyer)).toBe(ends[0]!.state === "failed" ? before : before - 2);
  }
  await proveLedger(context);
});

test("a lapsed run is refunded once, however many sweepers find it; one whose lease is kept is left alone", async ({
  context,
}) => {
  const seeded = await seedMarket(context, { balance: 10 });
  const { db } = context;
  const [lapsed, kept] = [(await holdFor(context, seeded, 4n))!, (await holdFor(context, seeded, 3n))!];
  await db.query("update runs set lease_until = now() - interval '1 s' where id = $1", [lapsed]);
  const ended = await Promise.all(Array.from({ length: 20 }, () => recoverLostRuns(context)));
  expect(ended.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(await spendable(context, seeded.buyer)).toBe(7);
  expect(await captureOf(context, seeded, lapsed)).toMatchObject({ endedHere: false, state: "lost" });
  expect(await captureOf(context, seeded, kept)).toMatchObject({ endedHere: true, state: "succeeded" });
  await proveLedger(context);
});

test("a run that began while its key had no cap is given back, however little the key has spent under one", async ({
  context,
}) => {
  const seeded = await seedMarket(context, { balance: 100 });
  const { db } = context;
  const change = (maxCreditsPerDay: number | null) =>
    changeKey(db, seeded.buyer.id, seeded.keyId, { maxCreditsPerDay });
  await change(10);
  await captureOf(context, seeded, (await holdFor(context, seeded, 5n, newId("run"), 10n))!);
  await change(null);
  const uncounted = (await holdFor(context, seeded, 50n))!;
  expect(await releaseOf(context, uncounted)).toMatchObject({ endedHere: true, creditsRemaining: 95n });
  await change(10);
  expect(await holdFor(context, seeded, 6n, newId("run"), 10n)).toBeNull();
  expect(await holdFor(context, seeded, 5n, newId("run"), 10n)).not.toBeNull();
  await proveLedger(context);
});

test("a lapsed run that cannot be ended keeps no other from being ended", async ({ context }) => {
  const { db } = context;
  const [stuck, other] = [await seedMarket(context, { balance: 10 }), await seedMarket(context)];
  const [first, second] = [(await holdFor(context, stuck, 4n))!, (await holdFor(context, other, 4n))!];
  await db.query("update runs set lease_until = now() - interval '2 s' where id = $1", [first]);
  await db.query("update runs set lease_until = now() - interval '1 s' where id = $1", [second]);
  // What goes back to it finds no room.
  const hold = (spendable: string) =>
    db.query("update balances set spendable = $2 where account_id = $1", [stuck.buyer.id, spendable]);
  await hold("9007199254740991");
  expect(await recoverLostRuns(context)).toBe(1);
  expect(await captureOf(context, other, second)).toMatchObject({ state: "lost" });
  await hold("6");
  expect(await recoverLostRuns(context)).toBe(1);
  await proveLedger(context);
});

test("a run whose row is locked keeps no other's lease from being extended", async ({ context }) => {
  const { db, leases } = context;
  const seeded = await seedMarket(context, { balance: 10 });
  const [locked, other] = [(await holdFor(context, seeded, 4n))!, (await holdFor(context, seeded, 3n))!];
  await db.query("update runs set lease_until = now() + interval '1 s' where id = any($1)", [[locked, other]]);
  for (const id of [locked, other]) leases.keep(id);
  const holder = await db.connect();
  await holder.query("begin");
  await holder.query("select from runs where id = $1 for update", [locked]);
  await leases.extend();
  const { rows } = await db.query("select id from runs where id = any($1) and lease_until > now() + interval '3 s'", [
    [locked, other],
  ]);
  expect(rows).toEqual([{ id: other }]);
  await holder.query("rollback");
  holder.release();
  for (const id of [locked, other]) leases.end(id);
  for (const id of [locked, other]) await releaseOf(context, id);
});

test("runs older than thirty days are forgotten, what they moved is not", async ({ context }) => {
  const seeded = await seedMarket(context, { balance: 10 });
  const { db } = context;
  const [old, recent] = [(await holdFor(context, seeded, 4n))!, (await holdFor(context, seeded, 3n))!];
  await Promise.all([captureOf(context, seeded, old), captureOf(context, seeded, recent)]);
  await db.query("update runs set finished_at = now() - interval '31 days' where id = $1", [old]);
  await deleteOldRuns(context);
  const { rows } = await db.query("select id from runs where id = any($1)", [[old, recent]]);
  expect(rows).toEqual([{ id: recent }]);
  expect((await readBalances(db, [seeded.creator.id]))[0]?.earned).toBe(7n);
  await proveLedger(context);
});

test("a grant with a reference happens once, however many ask at once", async ({ context }) => {
  const { buyer } = await seedMarket(context, { balance: 0 });
  const once = { accountId: buyer.id, credits: credits(7n), reference: `purchase:${buyer.id}` };
  const granted = await Promise.all(Array.from({ length: 10 }, () => grant(context.db, once)));
  expect(granted.filter(Boolean)).toHaveLength(1);
  expect(await spendable(context, buyer)).toBe(7);
  await proveLedger(context);
});

test("nothing can be granted to an account that is not there", async ({ context }) => {
  const missing = newId("acc");
  expect(await grant(context.db, { accountId: missing, credits: credits(7n) })).toBe(false);
  await proveLedger(context);
});

test.for([
  ["changed", "update postings set amount = amount + 1"],
  ["deleted", "delete from postings"],
  ["emptied", "truncate postings"],
] as const)("postings cannot be %s", async ([_name, statement], { context }) => {
  await seedMarket(context);
  await expect(context.db.query(statement)).rejects.toThrow("append-only");
});

test("the database itself refuses a negative balance and a run that ends twice", async ({ context }) => {
  const seeded = await seedMarket(context, { balance: 5 });
  const { db } = context;
  const overdraw = db.query("update balances set spendable = spendable - 6 where account_id = $1", [seeded.buyer.id]);
  await expect(overdraw).rejects.toMatchObject({ code: "23514" });
  const id = (await holdFor(context, seeded, 5n))!;
  await captureOf(context, seeded, id);
  const secondEnd = db.query(
    "insert into postings (kind, from_purse, to_purse, amount, run_id) values ('release', $1, $2, 5, $3)",
    [`held:${id}`, `spendable:${seeded.buyer.id}`, id],
  );
  await expect(secondEnd).rejects.toMatchObject({ constraint: "postings_resolution" });
});

test("earnings read the same before and after they are folded, and folding twice changes nothing", async ({
  context,
}) => {
  const seeded = await seedMarket(context, { balance: 100 });
  const { db } = context;
  const earned = async () => (await readBalances(db, [seeded.creator.id]))[0]?.earned;
  for (let n = 0; n < 4; n += 1) await captureOf(context, seeded, (await holdFor(context, seeded, 3n))!);
  await db.query("alter table postings disable trigger postings_append_only");
  await db.query(
    `update postings set created_at = created_at - interval '2 hours'
     where to_purse = $1 and id < (select max(id) from postings where to_purse = $1)`,
    [`earned:${seeded.creator.id}`],
  );
  await db.query("alter table postings enable trigger postings_append_only");
  expect(await earned()).toBe(12n);
  await Promise.all([1, 2, 3].map(() => foldEarnings(db, seeded.creator.id)));
  const { rows } = await db.query("select total from purse_totals where purse = $1", [`earned:${seeded.creator.id}`]);
  expect(rows).toEqual([{ total: 9n }]);
  expect(await earned()).toBe(12n);
});

test("a thousand earnings are folded by whatever looks up the balance", async ({ context }) => {
  const { creator } = await seedMarket(context, { balance: 100 });
  await context.db.query(
    `insert into postings (kind, from_purse, to_purse, amount, run_id, created_at)
     select 'capture', 'held:run_' || $2 || n, $1, 2, 'run_' || $2 || n, now() - interval '2 hours' from generate_series(1, 1000) n`,
    [`earned:${creator.id}`, creator.id],
  );
  const balance = await context.lookups.balance(creator.id);
  await context.backgroundWork.idle();
  const { rows } = await context.db.query("select total from purse_totals where purse = $1", [`earned:${creator.id}`]);
  expect(rows).toEqual([{ total: 2_000n }]);
  expect(await context.lookups.balance(creator.id)).toEqual({ ...balance, worthFolding: false });
});

test("the platform's part is rounded down, and the parts are the price", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 1_000_000n }), fc.integer({ min: 0, max: 9_999 }), (price, basisPoints) => {
      const fee = platformFee(credits(price), basisPoints);
      expect(fee).toBe((price * BigInt(basisPoints) - ((price * BigInt(basisPoints)) % 10_000n)) / 10_000n);
      expect(fee).toBeLessThan(price);
    }),
  );
});
