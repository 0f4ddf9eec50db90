import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { rollUp } from "../../facilitator/settlements/rollup.ts";
import { environmentOf, networkOf } from "../../shared/networks.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { insertRecords, type TestRecord } from "../support/records.ts";

const test = evmTest();

const eventually = <T>(read: () => Promise<T>) => expect.poll(read);

const statsOf = async (facilitator: RunningFacilitator & { context: Context }, query = "") =>
  (await facilitator.get(`/stats${query}`)).body;

test("with nothing recorded everything is zero, and what cannot be said is null", async ({ facilitator }) => {
  const { status, headers, body } = await facilitator.get("/stats");
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toMatchObject({
    env: "testnet",
    days: 14,
    networks: ["eip155:84532"],
    settlements: 0,
    failed: 0,
    volumeAtomic: "0",
    successRate: null,
    avgAtomic: "0",
    medianSettleMs: null,
    payers: 0,
    byNetwork: { "eip155:84532": 0 },
    byStatus: { settled: 0, failed: 0, rejected: 0 },
  });
  expect(body.daily).toHaveLength(14);
  expect(body.daily.at(-1)).toEqual({ day: new Date().toISOString().slice(0, 10), count: 0, volumeAtomic: "0" });
});

test("a settlement counts from the moment it is answered", async ({ setting, facilitator }) => {
  const before = await statsOf(facilitator);
  const { body } = await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  expect(body.success).toBe(true);
  const after = await statsOf(facilitator);
  expect(after.settlements).toBe(before.settlements + 1);
  expect(BigInt(after.volumeAtomic)).toBe(BigInt(before.volumeAtomic) + 10_000n);
  expect(after.payers).toBe(before.payers + 1);
  expect(after.daily.at(-1).count).toBe(before.daily.at(-1).count + 1);
  expect(after.medianSettleMs).toBeGreaterThan(0);
});

describe("what is asked for", () => {
  test.for([
    ["days=-1", "days"],
    ["days=many", "days"],
    ["days=1.5", "days"],
    ["days=1&days=2", "days"],
    ["env=staging", "env"],
    ["network=a&network=b", "network"],
  ] as const)("%s is refused by name", async ([query, field], { facilitator }) => {
    const { status, body } = await facilitator.get(`/stats?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ field, error: expect.stringContaining(field) });
  });

  test.for([
    ["0", 1],
    ["1", 1],
    ["365", 365],
    ["9000", 365],
  ] as const)("days=%s gives %i days", async ([asked, days], { facilitator }) => {
    const body = await statsOf(facilitator, `?days=${asked}`);
    expect(body.days).toBe(days);
    expect(body.daily).toHaveLength(days);
  });

  test("a network of the other environment, or one nobody has heard of, is empty", async ({ facilitator }) => {
    expect(await statsOf(facilitator, "?env=mainnet&network=eip155:84532")).toMatchObject({
      env: "mainnet",
      settlements: 0,
    });
    expect(await statsOf(facilitator, "?network=eip155:999999")).toMatchObject({ settlements: 0 });
    expect(await statsOf(facilitator, "?network=%00';--")).toMatchObject({ settlements: 0 });
  });
});

const networks = ["eip155:84532", "hedera:testnet", "eip155:8453", "hedera:mainnet"];
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const record = fc.record<TestRecord>({
  network: fc.constantFrom(...networks),
  status: fc.constantFrom("settled", "settled", "failed", "rejected"),
  kind: fc.constantFrom("settle", "settle", "settle", "verify"),
  // No USDC of any network.
  asset: fc.constantFrom(undefined, undefined, "0.0.0"),
  payer: fc.constantFrom("0xa", "0xb", "0xc", "0.0.1", "0.0.2", "0.0.3"),
  amount: fc.bigInt({ min: 1n, max: 2n ** 200n }),
  totalMs: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 60_000 })),
  createdAt: fc.integer({ min: 0, max: 400 }).map(daysAgo),
});

/** The same figures, computed the slow and obvious way. */
function naive(records: readonly TestRecord[], env: string, network: string | undefined, days: number) {
  const dayOf = ({ createdAt }: TestRecord) => createdAt.toISOString().slice(0, 10);
  const window = Array.from({ length: days }, (_, index) =>
    daysAgo(days - 1 - index)
      .toISOString()
      .slice(0, 10),
  );
  const asked = records.filter(
    (one) =>
      one.kind === "settle" &&
      environmentOf(one.network) === env &&
      (network === undefined || one.network === network) &&
      window.includes(dayOf(one)),
  );
  const settled = asked.filter(({ status }) => status === "settled");
  const volume = (some: readonly TestRecord[]) =>
    some.reduce((total, { amount, asset }) => total + (asset ? 0n : amount), 0n);
  const times = settled.map(({ totalMs }) => totalMs).toSorted((a, b) => a - b);
  const middle = (times.length - 1) / 2;
  return {
    settlements: settled.length,
    failed: asked.filter(({ status }) => status === "failed").length,
    volumeAtomic: String(volume(settled)),
    successRate: asked.length === 0 ? null : Math.round((1_000 * settled.length) / asked.length) / 10,
    avgAtomic: String(settled.length === 0 ? 0n : volume(settled) / BigInt(settled.length)),
    medianSettleMs:
      times.length === 0 ? null : ((times[Math.floor(middle)] ?? 0) + (times[Math.ceil(middle)] ?? 0)) / 2,
    payers: new Set(settled.map(({ payer }) => payer)).size,
    daily: window.map((day) => {
      const on = settled.filter((one) => dayOf(one) === day);
      return { day, count: on.length, volumeAtomic: String(volume(on)) };
    }),
    byStatus: {
      settled: settled.length,
      failed: asked.filter(({ status }) => status === "failed").length,
      rejected: asked.filter(({ status }) => status === "rejected").length,
    },
  };
}

test("for any records, counted or still queued, the figures are those of the slow and obvious way", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, payer_days, payers_by_last_day",
  );
  const all: TestRecord[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 60 }),
      fc.boolean(),
      fc.constantFrom("mainnet", "testnet"),
      fc.option(fc.nat({ max: 3 }), { nil: undefined }),
      fc.oneof(fc.constantFrom(1, 365), fc.integer({ min: 1, max: 365 })),
      async (records, counted, env, chosen, days) => {
        await insertRecords(db, records);
        all.push(...records);
        if (counted) await rollUp(db, environmentOf);
        const network = chosen === undefined ? undefined : networks[chosen];
        const query = `?env=${env}&days=${days}${network ? `&network=${network}` : ""}`;
        expect(await statsOf(facilitator, query)).toMatchObject(naive(all, env, network, days));
      },
    ),
    { numRuns: 120 },
  );
  await eventually(() => db.query("select from uncounted_settlements").then(({ rowCount }) => rowCount)).toBe(0);
  expect(await statsOf(facilitator, "?env=testnet&days=365")).toMatchObject(naive(all, "testnet", undefined, 365));
});

test("what is paid in another token than USDC is a payment like any other, and in no volume", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const [payer, payTo] = ["0.0.71", "0.0.72"];
  const usdc = networkOf("hedera:testnet")?.stablecoins[0]?.asset as string;
  const read = () => statsOf(facilitator, "?network=hedera:testnet&days=1");
  const before = await read();
  await insertRecords(
    db,
    [
      { asset: usdc, amount: 5n },
      { asset: "0.0.0", amount: 100_000_000n },
    ].map((one) => ({ ...base, network: "hedera:testnet", payer, payTo, createdAt: new Date(), ...one })),
  );
  const figures = async () => {
    const { settlements, volumeAtomic } = await read();
    return { settlements, volumeAtomic };
  };
  const volumeAtomic = String(BigInt(before.volumeAtomic) + 5n);
  const expected = { settlements: before.settlements + 2, volumeAtomic };
  expect(await figures()).toEqual(expected);
  await eventually(async () => {
    await rollUp(db, environmentOf);
    const { rows } = await db.query("select paid, paid_volume from accounts where account = $1", [payer]);
    return rows;
  }).toEqual([{ paid: 2n, paid_volume: 5n }]);
  expect(await figures()).toEqual(expected);
});

test("figures stay exact while settlements are recorded and added up by several at once", async ({ facilitator }) => {
  const { db } = facilitator.context;
  const before = await statsOf(facilitator, "?network=eip155:84532&days=1");
  let recorded = 0;
  const write = async () => {
    for (let round = 0; round < 40; round += 1) {
      await insertRecords(db, [
        { ...base, payer: `0x${round}`, createdAt: new Date() },
        { ...base, status: "failed", createdAt: new Date() },
      ]);
      recorded += 1;
    }
  };
  const add = async () => {
    for (let round = 0; round < 40; round += 1) await rollUp(db, environmentOf);
  };
  const read = async () => {
    for (let round = 0; round < 40; round += 1) {
      const least = recorded;
      const body = await statsOf(facilitator, "?network=eip155:84532&days=1");
      expect(body.settlements - before.settlements).toBeGreaterThanOrEqual(least);
      expect(body.settlements - before.settlements).toBeLessThanOrEqual(160);
      expect(body.settlements - before.settlements - (body.failed - before.failed)).toBe(0);
    }
  };
  await Promise.all([write(), write(), write(), write(), add(), add(), read(), read()]);
  const after = await statsOf(facilitator, "?network=eip155:84532&days=1");
  expect(after.settlements - before.settlements).toBe(160);
  expect(after.failed - before.failed).toBe(160);
});

const base: TestRecord = {
  network: "eip155:84532",
  status: "settled",
  kind: "settle",
  payer: "0xa",
  amount: 5n,
  totalMs: 100,
  createdAt: new Date(),
};
