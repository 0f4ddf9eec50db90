import { TopicCreateTransaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { startMockX } from "../../../infra/mock-x/server.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { paidTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { allow, operatorVariables } from "../../support/ledger-agents.ts";
import { run, type TestMarketplace, until } from "../../support/marketplace.ts";
import { startProcess } from "../../support/marketplace-process.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { part, perFile } from "../../support/part.ts";
import { decodeHeader, type PaidAnswer, payQuote, post } from "../../support/pay-call.ts";

const test = paidTest()
  .extend(
    "x",
    perFile,
    part(() => startMockX({ token: "X-TOKEN" })),
  )
  .extend("options", perFile, ({ open, x }) => {
    const xVariables = { X_API_BASE_URL: x.url, X_API_BEARER_TOKEN: "X-TOKEN" };
    // Transactions stay good for as long as they are held back.
    return { env: { ...operatorVariables(open), ...xVariables, HEDERA_VALID_SECONDS: "90" } };
  });

test.afterEach(({ open }) => open.ledger.faults.clear());

const receiver = "0.0.1003";
let agents = 0;
let posts = 1_900_000_000_000_000_000n;

async function publish(paid: PaidMarket, copy: TestMarketplace, connector: string, settings: object) {
  agents += 1;
  const { address, agentId } = await publishAgent(paid.marketplace.context, paid.market.creator, `scarce-${agents}`, {
    name: "Scarce",
    description: "Has enough for few.",
    connector,
    price_credits: 5,
    fields: ["text", "to", "amount", "post", "wallet"].map((name) => ({ name, type: "text" })),
    settings: { network: "hedera:testnet", ...settings },
  });
  const path = `/api/agent/${address}`;
  return { address, agentId, urls: [paid.marketplace.url + path, copy.url + path] as const };
}

const allowed = (open: OpenLedger, amount: number) => allow({ open } as Parameters<typeof allow>[0], amount);
const newTopic = async (open: OpenLedger) => (await open.run(new TopicCreateTransaction())).topicId!.toString();
const query = async (paid: PaidMarket, text: string, values: unknown[] = []) =>
  (await paid.marketplace.context.db.query(text, values)).rows;
const settled = async (paid: PaidMarket) => {
  const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
  return Number(rows[0].count);
};

/** As waiting would, ends the leases of what no copy works on any more. */
async function lapse(paid: PaidMarket): Promise<void> {
  await query(paid, "update runs set lease_until = now() - interval '1 second' where state = 'running'");
  await query(paid, "update paid_calls set lease_until = now() where lease_until is not null");
  await query(paid, "update reservations set until = now() where spent_at is null");
}

/** Fifty buyers at once, on both chains and both copies of the service, each with a payment of their own. */
async function fiftyBuyers({ open, paid, urls, room }: Sale, body: object): Promise<PaidAnswer[]> {
  const quote = await post(urls[0], { body });
  const proofs: object[] = [];
  for (let n = 0; n < 50; n += 1) proofs.push(await payQuote(paid, n % 2 === 0 ? "evm" : "hedera", quote));
  return heldUntilAnswered(
    open,
    proofs.map((proof, n) => post(urls[(n >> 1) % 2]!, { body, proof })),
    room,
  );
}

interface Sale {
  readonly open: OpenLedger;
  readonly paid: PaidMarket;
  readonly urls: readonly [string, string];
  /** For how many buyers there is enough. */
  readonly room: number;
}

/**
 * No effect ends before all but those with room have been answered: while one ends, what the ledger says is left and what
 * the database says was just used can be the same thing, and is counted twice, so that fewer are served than could be.
 */
async function heldUntilAnswered<T>(open: OpenLedger, calls: ReadonlyArray<Promise<T>>, room: number): Promise<T[]> {
  let answered = 0;
  for (const call of calls) call.finally(() => (answered += 1)).catch(() => {});
  await expect.poll(() => answered).toBeGreaterThanOrEqual(calls.length - room);
  open.ledger.faults.clear();
  return Promise.all(calls);
}

async function expectRoom(sale: Sale, body: object): Promise<void> {
  const { open, paid, room } = sale;
  const before = await settled(paid);
  open.ledger.faults.set({ consensusDelayMs: 600_000 });
  const answers = await fiftyBuyers(sale, body);
  const served = answers.filter(({ status }) => status === 200);
  expect(served.map(({ body }) => body.success)).toEqual(Array(room).fill(true));
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body, headers } of refused) {
    expect([409, 503]).toContain(status);
    expect(body.charged).toBe(false);
    expect(headers.get("payment-response")).toBeNull();
    if (status === 503) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await settled(paid)).toBe(before + room);
}

describe("of fifty buyers at once exactly as many settle as there is room, the others keep their money", () => {
  const transfer = { asset: "hbar", to: "{{to}}", amount: "{{amount}}", per_run_max: "1000", per_day_max: "100000" };
  const five = { to: receiver, amount: "5" };

  test("one left of a day's cap", async ({ open, paid, copy }) => {
    await allowed(open, 100_000);
    const { urls, agentId } = await publish(paid, copy, "hedera-transfer", {
      ...transfer,
      per_run_max: "5",
      per_day_max: "9",
    });
    await expectRoom({ open, paid, urls, room: 1 }, five);
    expect(await query(paid, "select state from effects where agent_id = $1", [agentId])).toEqual([{ state: "done" }]);
  });

  test("three left of an allowance that two agents draw on", async ({ open, paid, copy }) => {
    await allowed(open, 1_000);
    const one = await publish(paid, copy, "hedera-transfer", transfer);
    const other = await publish(paid, copy, "hedera-transfer", transfer);
    await allowed(open, 19);
    await expectRoom({ open, paid, urls: [one.urls[0], other.urls[1]], room: 3 }, five);
  });

  test("one post", async ({ open, x, paid, copy }) => {
    await allowed(open, 100_000);
    const settings = { asset: "hbar", amount: "100", per_day_max: "10000", budget: "10000", rule: {} };
    const { urls } = await publish(paid, copy, "x-reward", settings);
    posts += 1n;
    const { id } = x.add({ id: `${posts}`, text: `pay ${receiver}`, author: { id: "77", username: "one" } });
    const holding = await open.hbarBalance(receiver);
    await expectRoom({ open, paid, urls, room: 1 }, { post: id, wallet: receiver });
    expect(await open.hbarBalance(receiver)).toBe(holding + 100n);
    expect(await query(paid, "select pool from reservations where spent_at is null and until > now()")).toEqual([]);
  });
});

test("on credits, too: over both copies as many are held as there is room", async ({ open, paid, copy }) => {
  const { address } = await publish(paid, copy, "hcs-write", {
    topic: await newTopic(open),
    message: "{{text}}",
    per_day_max: 3,
  });
  const { key } = paid.market;
  open.ledger.faults.set({ consensusDelayMs: 600_000 });
  const calls = Array.from({ length: 12 }, (_, n) =>
    run(n % 2 ? copy : paid.marketplace, key, address, { text: `${n}` }),
  );
  const answers = await heldUntilAnswered(open, calls, 3);
  const told = answers.map(({ status, body }) => (body.success ? "served" : `${status}, charged ${body.charged}`));
  expect(told.sort(), answers.map(({ text }) => text).join("\n")).toEqual([
    ...Array(9).fill("503, charged false"),
    ...Array(3).fill("served"),
  ]);
});

test("a copy killed between reservation and settlement: what it had reserved is another's when the lease lapses", async ({
  open,
  paid,
  copy,
}) => {
  const { urls, address, agentId } = await publish(paid, copy, "hcs-write", {
    topic: await newTopic(open),
    message: "{{text}}",
    per_day_max: 1,
  });
  const facilitator = await startSilentSettle(paid.facilitator.url);
  const doomed = await startProcess({
    ...paid.marketplace.environment,
    FACILITATOR_URL: facilitator.url,
    RUN_LEASE_MS: "10000",
  });
  const body = { text: "one of one" };
  const quote = await post(urls[0], { body });
  const [first, second] = [await payQuote(paid, "evm", quote), await payQuote(paid, "hedera", quote)];
  const before = await settled(paid);
  const answer = post(`${doomed.url}/api/agent/${address}`, { body, proof: first }).catch(() => "died");
  await until(() => facilitator.asked() > 0);
  // It goes on holding it for as long as it lives.
  const held = "select until::text as until from reservations where pool like 'day ' || $1 || ' %' and until > now()";
  const [taken] = await query(paid, held, [agentId]);
  await until(async () => (await query(paid, "select now() > $1::timestamptz as over", [taken!.until]))[0]!.over);
  expect(await query(paid, held, [agentId])).toHaveLength(1);
  expect(await post(urls[0], { body, proof: second })).toMatchObject({ status: 503, body: { charged: false } });
  doomed.child.kill("SIGKILL");
  expect(await answer).toBe("died");
  expect((await post(urls[1], { body, proof: second })).status).toBe(503);
  await lapse(paid);
  expect((await post(urls[1], { body, proof: second })).status).toBe(200);
  const late = await post(urls[0], { body, proof: first });
  expect(late).toMatchObject({ status: 503, body: { charged: false, error: expect.stringContaining("a day") } });
  expect(await settled(paid)).toBe(before + 1);
  await facilitator.stop();
});

test("a copy killed while the ledger has what was paid for: one effect and one settlement, whoever the payment is posted to next", async ({
  open,
  paid,
  copy,
}) => {
  const { address, urls, agentId } = await publish(paid, copy, "hcs-write", {
    topic: await newTopic(open),
    message: "{{text}}",
    per_day_max: 1,
  });
  const doomed = await startProcess(paid.marketplace.environment);
  const body = { text: "survives" };
  const proof = await payQuote(paid, "evm", await post(urls[0], { body }));
  const before = await settled(paid);
  open.ledger.faults.set({ consensusDelayMs: 600_000, dropReply: 1 });
  const answer = post(`${doomed.url}/api/agent/${address}`, { body, proof }).catch(() => "died");
  const begun = () => query(paid, "select 1 from effects where agent_id = $1 and state = 'open'", [agentId]);
  await until(async () => (await begun()).length === 1);
  await until(() => open.ledger.faults.current().dropReply === undefined);
  doomed.child.kill("SIGKILL");
  expect(await answer).toBe("died");
  open.ledger.faults.clear();
  await lapse(paid);
  const [one, other] = await Promise.all(urls.map((url) => post(url, { body, proof })));
  expect([one?.status, other?.status]).toContain(200);
  expect(await query(paid, "select state from effects where agent_id = $1", [agentId])).toEqual([{ state: "done" }]);
  expect(await settled(paid)).toBe(before + 1);
  expect(
    await query(paid, "select 1 from debts d join agents a on a.id = d.agent_id where a.id = $1", [agentId]),
  ).toEqual([]);
});

test("a copy killed while it looks whether a call can work binds the payment to nothing: the corrected input buys", async ({
  open,
  paid,
  copy,
}) => {
  await allowed(open, 100_000);
  const settings = { asset: "hbar", to: "{{to}}", amount: "5", per_run_max: "5", per_day_max: "100" };
  const { address, urls } = await publish(paid, copy, "hedera-transfer", settings);
  const silent = await startHttpServer(() => {});
  const doomed = await startProcess({ ...paid.marketplace.environment, HEDERA_MIRROR: silent.url });
  const proof = await payQuote(paid, "evm", await post(urls[0], { body: {} }));
  const newestKey = async () =>
    (await query(paid, "select payment_key as key from paid_calls order by created_at desc limit 1"))[0]?.key;
  const key = await newestKey();
  const answer = post(`${doomed.url}/api/agent/${address}`, { body: { to: "0.0.987654" }, proof }).catch(() => "died");
  await until(async () => (await newestKey()) !== key);
  doomed.child.kill("SIGKILL");
  expect(await answer).toBe("died");
  await lapse(paid);
  const before = await settled(paid);
  const served = await post(urls[0], { body: { to: receiver }, proof });
  expect([served.status, served.body.error]).toEqual([200, undefined]);
  expect(await settled(paid)).toBe(before + 1);
  await silent.stop();
});

test("who has a payment in hand and settles none of it may have so many looked up a minute", async ({
  open,
  paid,
  copy,
}) => {
  await allowed(open, 100_000);
  const { urls } = await publish(paid, copy, "hedera-transfer", {
    asset: "hbar",
    to: "{{to}}",
    amount: "5",
    per_run_max: "5",
    per_day_max: "100",
  });
  const buyer = await paid.setting.fundedBuyer();
  const proof = await payQuote(paid, "evm", await post(urls[0], { body: {} }), { buyer });
  await query(paid, "select count_calls($1, 100, 120)", [`precheck:${buyer.address}`]);
  const statuses: number[] = [];
  for (let n = 0; n < 25; n += 1) {
    const { status } = await post(urls[n % 2]!, { body: { to: `0.0.${900_000 + n}` }, proof });
    statuses.push(status);
  }
  expect(statuses).toEqual([...Array(20).fill(422), ...Array(5).fill(429)]);
});

test("a reservation that lapsed under a stalled copy gives no room that another has: the cap holds", async ({
  open,
  paid,
  copy,
}) => {
  const { agentId } = await publish(paid, copy, "hcs-write", {
    topic: await newTopic(open),
    message: "{{text}}",
    per_day_max: 1,
  });
  const { reservations, tools } = copy.context;
  const spending = { asset: "message", amount: 1n, dayMax: 1n } as const;
  await reservations.take("stalled", agentId, spending);
  await query(paid, "update reservations set until = now() - interval '1 second' where holder = 'stalled'");
  await paid.marketplace.context.reservations.take("other", agentId, spending);
  const effect = { key: "stalled", runId: "run_stalled", agentId, promised: { kind: "message", receipt: {} } } as const;
  await expect(tools.sideEffects.begin({ ...effect, ...spending })).rejects.toThrow("Others are just being served");
  await paid.marketplace.context.reservations.end("other");
  await tools.sideEffects.begin({ ...effect, ...spending });
  await expect(reservations.take("late", agentId, spending)).rejects.toThrow("a day");
  await reservations.end("stalled");
});

test("an effect that failed after the settlement: 500, charged, with the settlement and what helps; then the same payment works", async ({
  open,
  paid,
  copy,
}) => {
  const { urls } = await publish(paid, copy, "hcs-write", { topic: await newTopic(open), message: "{{text}}" });
  const body = { text: "second try" };
  const proof = await payQuote(paid, "evm", await post(urls[0], { body }));
  const before = await settled(paid);
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  const failed = await post(urls[0], { body, proof });
  expect(failed).toMatchObject({ status: 500, body: { success: false, charged: true } });
  expect(failed.body.advice).toContain("with the same input to run again without paying");
  for (const header of ["payment-response", "x-payment-response"]) {
    const settlement = decodeHeader(failed.headers.get(header));
    expect(settlement).toMatchObject({
      success: true,
      network: "eip155:84532",
      transaction: expect.stringMatching(/^0x/),
    });
  }
  expect((await post(urls[1], { body, proof })).status).toBe(200);
  expect(await settled(paid)).toBe(before + 1);
});

/** The facilitator, but for settlements, which it never answers and never makes. */
async function startSilentSettle(upstream: string) {
  let asked = 0;
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === "/settle") {
      asked += 1;
      return;
    }
    const body = request.method === "POST" ? { body: Buffer.concat(chunks) } : {};
    const headers = { "content-type": "application/json" };
    const answer = await fetch(upstream + request.url, { method: request.method ?? "GET", headers, ...body });
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  return {
    url: server.url,
    asked: () => asked,
    stop: server.stop,
  };
}
