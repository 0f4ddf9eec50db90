import { createTestClient, http } from "viem";
import { expect } from "vitest";
import { turningToken } from "../../infra/local-evm/artifacts.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { announcing, bazaar, eventually } from "../support/discovery.ts";
import { type EvmSetting, untilOddBlock } from "../support/evm-facilitator.ts";
import { type Buyer, newBuyer, paymentBody, requirementsOf } from "../support/evm-payments.ts";
import { callsTo } from "../support/facilitator.ts";
import { chainTest } from "../support/fixtures.ts";
import { lapseAll } from "../support/lapse.ts";
import { type PaidResource, startPaidResource } from "../support/paid-resource.ts";
import { Service } from "../support/service.ts";
import { statements } from "../support/statements.ts";

const test = chainTest({ FACILITATOR_DISCOVERY_LOCALHOST: "true" });
let server: PaidResource;
let buyer: Buyer;
let db: Database;

test.beforeAll(async ({ setting }) => {
  [server, buyer] = await Promise.all([startPaidResource(), setting.fundedBuyer(1_000_000_000n)]);
  db = connect(setting.variables.FACILITATOR_DATABASE_URL as string, {
    poolMax: 2,
    statements,
    applicationName: "test",
  });
});

test.afterAll(async () => {
  await db?.end();
  await server?.stop();
});

/** A daemon in a process of its own, and payments through it that ask to be listed; each wallet has one resource. */
async function startDaemon(setting: EvmSetting, variables: Record<string, string> = {}) {
  const service = await Service.start("facilitator", { ...setting.variables, ...variables });
  const { settle, get } = callsTo(service.url);
  return { service, settle, listed: listedBy(get) };
}

const listedBy = (get: ReturnType<typeof callsTo>["get"]) => async (path: string) =>
  (await get("/discovery/resources?limit=100")).body.items.some(
    ({ resource }: { resource: string }) => resource === server.url + path,
  );

async function paymentFor(
  setting: EvmSetting,
  path: string,
  terms = { ...setting.terms, payTo: newBuyer().address as string },
) {
  const body = await paymentBody(buyer, terms);
  const resource = { url: server.url + path, description: "Weather" };
  const payment = { ...body, paymentPayload: { ...body.paymentPayload, resource, extensions: { bazaar: bazaar() } } };
  return { payment, quote: announcing([requirementsOf(terms)]) };
}

const waiting = async () => Number((await db.query("select count(*) from discovery_offers")).rows[0].count);
const leasesEnd = () => db.query("update discovery_offers set lease_until = now()");

test("a listing that was under way in a crash is made after it", async ({ setting }) => {
  const daemon = await startDaemon(setting);
  try {
    const { payment, quote } = await paymentFor(setting, "/crash");
    const asked = new Promise<void>((resolve) => server.answer("/crash", () => resolve()));
    expect((await daemon.settle(payment)).body).toMatchObject({ success: true });
    await asked;
    await daemon.service.kill();
    expect(await waiting()).toBe(1);
    server.answer("/crash", quote);
    await leasesEnd();
    await daemon.service.start();
    await eventually(() => daemon.listed("/crash")).toBe(true);
    await eventually(waiting).toBe(0);
  } finally {
    await daemon.service.stop();
  }
});

test("a payment that a crash left on the chain is listed once recovery has found it settled", async ({ setting }) => {
  const chain = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) });
  const daemon = await startDaemon(setting);
  try {
    const { payment, quote } = await paymentFor(setting, "/recovered");
    server.answer("/recovered", quote);
    await chain.setAutomine(false);
    const cut = daemon.settle(payment).catch((error: Error) => error);
    await eventually(() => state(payment)).toBe("broadcast");
    await daemon.service.kill();
    expect(await cut).toBeInstanceOf(Error);
    expect(await waiting()).toBe(0);
    await chain.setAutomine(true);
    await chain.mine({ blocks: 1 });
    await lapseAll(db);
    await daemon.service.start();
    await eventually(() => daemon.listed("/recovered")).toBe(true);
    const { rows } = await db.query("select count(*) as offers from payments where offer is not null");
    expect(rows).toEqual([{ offers: 0n }]);
  } finally {
    await chain.setAutomine(true);
    await daemon.service.stop();
  }
});

test("two daemons share the queue: every resource is asked once", async ({ setting }) => {
  const daemons = await Promise.all([startDaemon(setting), startDaemon(setting)]);
  try {
    const paths = Array.from({ length: 16 }, (_, index) => `/shared-${index}`);
    await Promise.all(
      paths.map(async (path, index) => {
        const { payment, quote } = await paymentFor(setting, path);
        server.answer(path, quote);
        expect((await daemons[index % 2]?.settle(payment))?.body).toMatchObject({ success: true });
      }),
    );
    await eventually(waiting).toBe(0);
    for (const path of paths) expect(await daemons[0].listed(path)).toBe(true);
    expect(server.requests.filter((request) => request.includes("/shared-")).toSorted()).toEqual(
      paths.map((path) => `GET ${path}`).toSorted(),
    );
  } finally {
    await Promise.all(daemons.map(({ service }) => service.stop()));
  }
});

test("a resource that is away is asked again, five times at most", async ({ setting }) => {
  const daemon = await startDaemon(setting);
  try {
    let asked = 0;
    server.answer("/away", (response) => {
      asked += 1;
      response.destroy();
    });
    await daemon.settle((await paymentFor(setting, "/away")).payment);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await eventually(async () => asked).toBe(attempt);
      await leasesEnd();
    }
    await eventually(waiting).toBe(0);
    expect(asked).toBe(5);
  } finally {
    await daemon.service.stop();
  }
});

test("a payment that failed on the chain leaves nothing to list", async ({ setting }) => {
  const asset = await setting.chain.deploy(turningToken);
  const daemon = await startDaemon(setting, { EIP155_84532_ASSETS: `${setting.chain.usdc},${asset}` });
  try {
    await setting.chain.mint(asset, buyer.address, 1_000_000n);
    const { payment } = await paymentFor(setting, "/failed", { ...setting.terms, asset });
    await untilOddBlock(setting.chain);
    expect((await daemon.settle(payment)).body).toMatchObject({
      success: false,
      transaction: expect.stringMatching("0x"),
    });
    expect(await waiting()).toBe(0);
    expect((await db.query("select 1 from payments where offer is not null")).rows).toEqual([]);
  } finally {
    await daemon.service.stop();
  }
});

async function state(payment: Awaited<ReturnType<typeof paymentFor>>["payment"]): Promise<string | undefined> {
  const { nonce } = payment.paymentPayload.payload.authorization;
  const { rows } = await db.query("select state from payments where payment_key like '%' || lower($1)", [nonce]);
  return rows[0]?.state;
}
