import { describe, expect } from "vitest";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { type EvmSetting, evmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { chainsTest } from "../../support/fixtures.ts";
import { type HederaTerms, signHederaTransfer } from "../../support/hedera-payments.ts";
import { kept, perFile } from "../../support/part.ts";
import { at, isOf, type Type } from "./fields.ts";

/** The facilitator, row by row of the specification's tables. One settled, one refused payment are its record. */
let setting: EvmSetting;
let ledger: LocalHedera;
let facilitator: RunningFacilitator;
let settled: Awaited<ReturnType<typeof hederaBody>>;
let settlement: Awaited<ReturnType<RunningFacilitator["settle"]>>;

const test = chainsTest({ consensusDelayMs: 5 }).extend("facilitator", perFile, ({ forBoth }, { onCleanup }) =>
  kept(startFacilitator(forBoth), onCleanup),
);
test.beforeAll(async ({ setting: evm, ledger: hedera, facilitator: started }) => {
  [setting, ledger, facilitator] = [evm, hedera, started];
  settled = await hederaBody();
  settlement = await facilitator.settle(settled);
  const forged = await paymentBody(await setting.fundedBuyer(), setting.terms);
  forged.paymentPayload.payload.authorization.value = "1";
  await facilitator.settle(forged);
});

const hederaTerms = (): HederaTerms & { scheme: string } => ({
  scheme: "exact",
  network: "hedera:testnet",
  asset: ledger.usdc,
  amount: "1000",
  payTo: ledger.accounts.creator.accountId,
  maxTimeoutSeconds: 180,
  extra: { feePayer: ledger.accounts.feePayer.accountId },
});

/** The request body of the tables: a payload that carries its version, and the requirements. */
async function hederaBody() {
  const paymentRequirements = hederaTerms();
  const payload = await signHederaTransfer(ledger.accounts.buyer, paymentRequirements);
  return { paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload }, paymentRequirements };
}

const evmBody = async () => paymentBody(await setting.fundedBuyer(), setting.terms);
const bodies = { Hedera: () => hederaBody(), EVM: () => evmBody() };
const poll = (path: string, holds: (body: never) => boolean) =>
  expect.poll(async () => holds((await facilitator.get(path)).body as never)).toBe(true);

describe.each(["Hedera", "EVM"] as const)("a payment on %s", (chain) => {
  test("is answered by POST /verify with isValid and payer, and no money moves", async () => {
    const body = await bodies[chain]();
    const first = await facilitator.verify(body);
    expect(first).toMatchObject({ status: 200, body: { isValid: true, payer: expect.any(String) } });
    expect((await facilitator.verify(body)).body.isValid).toBe(true);
  });

  test("is answered by POST /settle with success, transaction, network and payer, and again with already_settled and the first id", async () => {
    const body = await bodies[chain]();
    const first = await facilitator.settle(body);
    expect(first).toMatchObject({
      status: 200,
      body: { success: true, network: body.paymentRequirements.network, payer: expect.any(String) },
    });
    expect(first.body.transaction).toMatch(/./);
    const { transaction } = first.body;
    expect((await facilitator.settle(body)).body).toMatchObject({
      success: false,
      errorReason: "already_settled",
      errorMessage: expect.any(String),
      transaction,
    });
    expect((await facilitator.verify(body)).body).toMatchObject({
      isValid: false,
      invalidReason: "already_settled",
      invalidMessage: expect.any(String),
    });
  });

  test("that is refused has isValid false with its reason and message, and success false with the same", async () => {
    const good = await bodies[chain]();
    const dearer = { ...good, paymentRequirements: { ...good.paymentRequirements, amount: "2000000" } };
    expect(await facilitator.verify(dearer)).toMatchObject({
      status: 200,
      body: { isValid: false, invalidReason: expect.any(String), invalidMessage: expect.any(String) },
    });
    expect(await facilitator.settle(dearer)).toMatchObject({
      status: 200,
      body: { success: false, errorReason: expect.any(String), errorMessage: expect.any(String) },
    });
  });
});

describe("the error", () => {
  test.each<[string, (good: Awaited<ReturnType<typeof hederaBody>>) => unknown, string]>([
    ["no paymentPayload", ({ paymentRequirements }) => ({ paymentRequirements }), "paymentPayload"],
    ["no paymentRequirements", ({ paymentPayload }) => ({ paymentPayload }), "paymentRequirements"],
    [
      "a network that is no string",
      ({ paymentPayload, paymentRequirements }) => ({
        paymentPayload,
        paymentRequirements: { ...paymentRequirements, network: 5 },
      }),
      "network",
    ],
  ])("400 malformed request: %s, and the body names the field", async (_what, spoil, field) => {
    const body = spoil(await hederaBody());
    for (const verb of [facilitator.verify, facilitator.settle]) {
      const answer = await verb(body);
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(field);
    }
  });

  test("of a request that is no JSON is 400", async () => {
    expect((await facilitator.verify("{")).status).toBe(400);
  });

  test("of a fee payer whose balance is low is 503: /health says which, /settle settles nothing", async () => {
    const poor = await evmSetting();
    const limits = {
      EIP155_84532_BALANCE_LOW_WEI: `1${"0".repeat(30)}`,
      EIP155_84532_BALANCE_EMPTY_WEI: `1${"0".repeat(29)}`,
    };
    const low = await startFacilitator({ ...poor.variables, ...limits });
    try {
      expect(await low.get("/health")).toMatchObject({ status: 503, body: { chains: [{ lowBalance: true }] } });
      const answer = await low.settle(await paymentBody(await poor.fundedBuyer(), poor.terms));
      expect(answer).toMatchObject({ status: 503, body: { success: false, errorReason: expect.any(String) } });
    } finally {
      await low.stop();
      await poor.stop();
    }
  });
  // "The facilitator cannot start" cannot be asked of one that answers: test/facilitator/config.unit.test.ts starts it so.
});

describe.each<[string, string, ReadonlyArray<[string, Type]>]>([
  [
    "GET /supported",
    "/supported",
    [
      ["kinds.0.x402Version", "integer"],
      ["kinds.0.scheme", "string"],
      ["kinds.0.network", "string"],
      ["extensions", "array"],
      ["signers", "object"],
    ],
  ],
  [
    "GET /health",
    "/health",
    [
      ["status", "string"],
      ["env", "string"],
      ["chains.0.network", "string"],
      ["chains.0.feePayer", "string"],
      ["chains.0.balance", "number"],
      ["chains.0.unit", "string"],
      ["chains.0.lowBalance", "boolean"],
      ["chains.0.empty", "boolean"],
      ["chains.0.settling", "boolean"],
    ],
  ],
  [
    "GET /stats",
    "/stats?env=testnet",
    [
      ["settlements", "integer"],
      ["failed", "integer"],
      ["volumeAtomic", "atomic amount"],
      ["successRate", "number or null"],
      ["avgAtomic", "atomic amount"],
      ["medianSettleMs", "number or null"],
      ["payers", "integer"],
      ["daily", "array"],
    ],
  ],
  [
    "GET /transactions",
    "/transactions?env=testnet&status=settled",
    [
      ["transactions.0.network", "string"],
      ["transactions.0.status", "string"],
      ["transactions.0.payer", "string"],
      ["transactions.0.pay_to", "string"],
      ["transactions.0.amount_atomic", "atomic amount"],
      ["transactions.0.resource_url", "string or null"],
      ["transactions.0.tx_id", "string"],
      ["transactions.0.error_reason", "string or null"],
      ["transactions.0.total_ms", "integer"],
      ["transactions.0.created_at", "ISO 8601 UTC with milliseconds"],
      ["transactions.0.explorer", "string or null"],
    ],
  ],
])("an answer of %s", (_name, path, rows) => {
  test.each(rows)("%s is a %s", async (field, type) => {
    const { status, body } = await facilitator.get(path);
    expect(status).toBe(200);
    expect(isOf(type, at(body, field)), JSON.stringify(body).slice(0, 1_000)).toBe(true);
  });
});

describe("what the answers say", () => {
  test("/supported: the fee payer of a kind is among the signers of its network", async () => {
    const { kinds, signers } = (await facilitator.get("/supported")).body;
    const hedera = kinds.filter(({ network }: { network: string }) => network.startsWith("hedera"));
    expect(hedera.length).toBeGreaterThan(0);
    for (const { extra } of hedera) expect(Object.values(signers).flat()).toContain(extra.feePayer);
  });

  test("/stats: byNetwork and byStatus are there, and `network` asks of one alone", async () => {
    await poll(
      "/stats?env=testnet&network=hedera:testnet",
      ({ settlements }: { settlements: number }) => settlements > 0,
    );
    const { body } = await facilitator.get("/stats?env=testnet&network=hedera:testnet");
    expect(body).toHaveProperty("byNetwork");
    expect(body).toHaveProperty("byStatus");
  });

  test.each([
    ["days is 14 by default", "", 14],
    ["days may be 1", "&days=1", 1],
    ["days may be 365", "&days=365", 365],
  ])("/stats: %s", async (_what, query, days) => {
    expect((await facilitator.get(`/stats?env=testnet${query}`)).body.daily).toHaveLength(days);
  });

  test("/stats: env mainnet is another record", async () => {
    expect((await facilitator.get("/stats?env=mainnet")).body.settlements).toBe(0);
  });

  test("/transactions: has the settled payment by the id its caller was told, with its amount", async () => {
    expect(settlement.body.success).toBe(true);
    const { body } = await facilitator.get("/transactions?env=testnet&network=hedera:testnet&status=settled&limit=100");
    expect(body.transactions).toContainEqual(
      expect.objectContaining({ tx_id: settlement.body.transaction, amount_atomic: "1000", status: "settled" }),
    );
    expect(body.transactions.every(({ status }: { status: string }) => status === "settled")).toBe(true);
  });

  test("/transactions: a refused payment is rejected, with its reason", async () => {
    const path = "/transactions?env=testnet&status=rejected";
    await poll(path, ({ transactions }: { transactions: unknown[] }) => transactions.length > 0);
    const { body } = await facilitator.get(path);
    expect(body.transactions[0]).toMatchObject({ status: "rejected", error_reason: expect.any(String) });
  });
  // `failed` needs a transaction that the chain turns down: test/facilitator/transactions.test.ts has one.

  test("/transactions keeps its limit, and the cursor leads through all pages without a repetition", async () => {
    await facilitator.settle(await hederaBody());
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body } = await facilitator.get(
        `/transactions?env=testnet&status=settled&limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(body.transactions.length).toBeLessThanOrEqual(1);
      seen.push(...body.transactions.map(({ tx_id }: { tx_id: string }) => tx_id));
      cursor = body.cursor;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toContain(settlement.body.transaction);
  });

  test("/discovery/resources: a page of the listing, with limit and offset", async () => {
    const { status, body } = await facilitator.get("/discovery/resources?limit=3&offset=0");
    expect(status).toBe(200);
    expect(body).toMatchObject({ items: expect.any(Array), pagination: { limit: 3, offset: 0 } });
  });
  // That entries drop off after 30 days: test/facilitator/discovery.test.ts moves them back in time.

  test("needs no authorization", async () => {
    for (const path of ["/supported", "/health", "/stats", "/transactions", "/discovery/resources"])
      expect((await facilitator.get(path)).status).toBe(200);
  });

  test("the payer needs no network token: the fee payer paid the fee", async () => {
    expect(settled.paymentRequirements.extra.feePayer).toBe(ledger.accounts.feePayer.accountId);
    expect(settlement.body.transaction).toContain(ledger.accounts.feePayer.accountId);
  });
});
