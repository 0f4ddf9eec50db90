import { describe, expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { insertRecords, type TestRecord } from "../support/records.ts";

const test = evmTest({ EIP155_84532_EXPLORER: "https://explorer.example.com" });

const eventually = <T>(read: () => Promise<T>) => expect.poll(read);

const list = async (facilitator: RunningFacilitator & { context: Context }, query = "") =>
  (await facilitator.get(`/transactions${query}`)).body;

test("a settlement and a refusal are listed, newest first, without what a URL may hide", async ({
  setting,
  facilitator,
}) => {
  const paid = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { body: settled } = await facilitator.settle(paid);
  const poor = await paymentBody(await setting.fundedBuyer(1n), setting.terms);
  await facilitator.verify(poor);
  await eventually(async () => (await list(facilitator)).transactions).toHaveLength(2);

  const { status, headers, body } = await facilitator.get("/transactions");
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toMatchObject({ env: "testnet", cursor: null });
  const [refusal, settlement] = body.transactions;
  expect(settlement).toEqual({
    network: "eip155:84532",
    status: "settled",
    kind: "settle",
    payer: settled.payer,
    pay_to: setting.terms.payTo,
    asset: setting.terms.asset,
    amount_atomic: "10000",
    resource_url: "https://api.example.com/weather",
    tx_id: settled.transaction,
    error_reason: null,
    total_ms: expect.any(Number),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    explorer: `https://explorer.example.com/tx/${settled.transaction}`,
  });
  expect(refusal).toMatchObject({
    status: "rejected",
    kind: "verify",
    tx_id: null,
    explorer: null,
    error_reason: expect.stringContaining("balance"),
  });
});

test("text no database can hold does not lose the refusals around it, and a made-up network is not recorded", async ({
  setting,
  facilitator,
}) => {
  const body = await paymentBody(await setting.fundedBuyer(1n), setting.terms);
  const count = (await list(facilitator, "?status=rejected")).transactions.length;
  const broken = structuredClone(body);
  broken.paymentRequirements.payTo = "\0nothing";
  const elsewhere = structuredClone(body);
  elsewhere.paymentRequirements.network = `eip155:${"9".repeat(5_000)}`;
  for (const one of [broken, elsewhere, body]) expect((await facilitator.verify(one)).body.isValid).toBe(false);
  await eventually(async () => (await list(facilitator, "?status=rejected")).transactions.length).toBe(count + 2);
  // What is no account is not shown: it is free text that a stranger wrote.
  expect((await list(facilitator, "?status=rejected")).transactions[1].pay_to).toBeNull();
});

describe("what is asked for", () => {
  test.for([
    ["limit=ten", "limit"],
    ["limit=-5", "limit"],
    ["limit=1&limit=2", "limit"],
    ["status=lost", "status"],
    ["env=moon", "env"],
    ["cursor=xyz", "cursor"],
    [`cursor=${Buffer.from("1.x").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from(`${"9".repeat(30)}.1`).toString("base64url")}`, "cursor"],
    ["cursor=2026-01-01T00:00:00Z", "cursor"],
  ] as const)("%s is refused by name", async ([query, field], { facilitator }) => {
    const { status, body } = await facilitator.get(`/transactions?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ field, error: expect.stringContaining(field) });
  });

  test("a page holds 25 by default and 100 at most, however many are asked for", async ({ facilitator }) => {
    await insertRecords(
      facilitator.context.db,
      Array.from({ length: 130 }, (_, index) => ({
        ...base,
        totalMs: index,
        createdAt: new Date(Date.UTC(2026, 0, 1)),
      })),
    );
    const lengthOf = async (query: string) =>
      (await list(facilitator, `?network=hedera:testnet${query}`)).transactions.length;
    expect(await lengthOf("")).toBe(25);
    expect(await lengthOf("&limit=1000000")).toBe(100);
    expect(await lengthOf("&limit=0")).toBe(1);
    expect((await list(facilitator, "?network=hedera:testnet&env=mainnet")).transactions).toEqual([]);
    expect((await list(facilitator, "?env=mainnet")).transactions).toEqual([]);
  });

  test("every filter narrows the list to what it says", async ({ facilitator }) => {
    const rows: TestRecord[] = ["settled", "failed", "rejected"].flatMap((status) =>
      ["hedera:mainnet", "eip155:8453"].map((network) => ({ ...base, network, status }) as TestRecord),
    );
    await insertRecords(facilitator.context.db, rows);
    const { transactions } = await list(facilitator, "?env=mainnet&limit=100");
    expect(transactions).toHaveLength(6);
    expect((await list(facilitator, "?env=mainnet&status=failed")).transactions).toHaveLength(2);
    expect((await list(facilitator, "?network=eip155:8453")).transactions).toHaveLength(3);
    expect((await list(facilitator, "?network=base&status=settled")).transactions).toHaveLength(1);
  });
});

test("paging visits every record once, though all share a moment and more are added meanwhile", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const moment = new Date();
  const network = "hedera:previewnet";
  await insertRecords(
    db,
    Array.from({ length: 200 }, (_, index) => ({
      ...base,
      network,
      status: (["settled", "failed", "rejected"] as const)[index % 3] ?? "settled",
      totalMs: index,
      createdAt: index < 150 ? moment : new Date(moment.getTime() - 1),
    })),
  );
  // Two records a microsecond apart, which a millisecond clock cannot tell apart.
  await db.query(
    `insert into transactions (network, status, kind, total_ms, created_at)
     select $1, 'settled', 'settle', 200 + n, $2::timestamptz - interval '5 milliseconds' + n * interval '1 microsecond'
       from generate_series(0, 1) as n`,
    [network, moment],
  );
  const seen: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const body: { transactions: { total_ms: number }[]; cursor: string | null } = await list(
      facilitator,
      `?network=${network}&limit=7${cursor ? `&cursor=${cursor}` : ""}`,
    );
    seen.push(...body.transactions.map(({ total_ms }) => total_ms));
    cursor = body.cursor;
    await insertRecords(db, [{ ...base, network, totalMs: 99_999, createdAt: new Date() }]);
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 202 }, (_, index) => index));
});

test("payments are found by a URL as long as one may be, and a refusal by what is kept of it", async ({
  setting,
  facilitator,
}) => {
  const { db } = facilitator.context;
  const url = `https://api.example.com/${"long/".repeat(404)}`;
  expect(url.length).toBeGreaterThan(2_000);
  const poor = structuredClone(await paymentBody(await setting.fundedBuyer(1n), setting.terms));
  poor.paymentPayload.resource.url = url;
  await facilitator.verify(poor);
  const kept = url.slice(0, 512);
  await insertRecords(db, [{ ...base, network: "eip155:84532", resourceUrl: url }]);
  const statusesOf = async (resource: string) =>
    (await list(facilitator, `?resource=${encodeURIComponent(resource)}`)).transactions.map(
      (row: { status: string }) => row.status,
    );
  await eventually(() => statusesOf(kept)).toEqual(["rejected"]);
  expect(await statusesOf(url)).toEqual(["settled"]);
  expect((await facilitator.get(`/transactions?resource=${"x".repeat(2_049)}`)).status).toBe(400);
});

const base: TestRecord = {
  network: "hedera:testnet",
  status: "settled",
  kind: "settle",
  payer: "0.0.7",
  amount: 5n,
  totalMs: 100,
  createdAt: new Date(),
};

test("refusals are deleted after thirty days, also those on a network that is not configured any more; nothing else is", async ({
  facilitator,
}) => {
  const { db, refusals } = facilitator.context;
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const base = { kind: "verify", payer: "0xrefused", amount: 1n, totalMs: 1 } as const;
  const networks = ["eip155:84532", "eip155:31337"];
  await insertRecords(
    db,
    networks.flatMap((network): TestRecord[] => [
      { ...base, network, status: "rejected", createdAt: daysAgo(29) },
      { ...base, network, status: "rejected", createdAt: daysAgo(31) },
      { ...base, network, status: "settled", createdAt: daysAgo(31) },
    ]),
  );
  await refusals.sweep();
  const { rows } = await db.query(
    `select network, status, created_at < now() - interval '30 days' as old from transactions
      where payer = '0xrefused' order by network, status`,
  );
  const left = (network: string) => [
    { network, status: "rejected", old: false },
    { network, status: "settled", old: true },
  ];
  expect(rows).toEqual(networks.toReversed().flatMap(left));
});

test("of refusals no more than the newest are kept on each network, and nothing else is deleted for them", async ({
  facilitator,
}) => {
  const { db, refusals } = facilitator.context;
  const base = { kind: "verify", payer: "0xflooding", amount: 1n, totalMs: 1 } as const;
  const minutesAhead = (minutes: number) => new Date(Date.now() + minutes * 60_000);
  const flood = ["eip155:84532", "eip155:31337"].flatMap((network): TestRecord[] => [
    { ...base, network, status: "settled", createdAt: minutesAhead(1) },
    ...[1, 2, 3].map(
      (minutes): TestRecord => ({
        ...base,
        network,
        status: "rejected",
        createdAt: minutesAhead(minutes),
        amount: BigInt(minutes),
      }),
    ),
  ]);
  await insertRecords(db, flood);
  await refusals.trim(2);
  const { rows } = await db.query(
    `select network, status, array_agg(amount_atomic::int order by amount_atomic) as amounts from transactions
      where payer = '0xflooding' group by 1, 2 order by 1, 2`,
  );
  expect(rows).toEqual(
    ["eip155:31337", "eip155:84532"].flatMap((network) => [
      { network, status: "rejected", amounts: [2, 3] },
      { network, status: "settled", amounts: [1] },
    ]),
  );
});
