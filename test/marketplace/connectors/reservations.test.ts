import { describe, expect } from "vitest";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { run } from "../../support/marketplace.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { decodeHeader, type PaidAnswer, payQuote, post } from "../../support/pay-call.ts";
import { allowed, newTopic, publish, query, scarceTest, settled } from "../../support/scarce-agents.ts";

const test = scarceTest();
test.afterEach(({ open }) => open.ledger.faults.clear());

const receiver = "0.0.1003";
let posts = 1_900_000_000_000_000_000n;

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
  // What another copy began is not begun again; the caller is told when to come back.
  const again = tools.sideEffects.begin({ ...effect, ...spending, dayMax: 9n });
  await expect(again).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 5 });
  await expect(reservations.take("late", agentId, spending)).rejects.toThrow("24 hours");
  await reservations.end("stalled");
});

test("an effect that failed after the settlement: 503, charged, with the settlement and what helps; then the same payment works", async ({
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
  expect(failed).toMatchObject({ status: 503, body: { success: false, charged: true } });
  expect(failed.headers.get("retry-after")).toBe("5");
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
