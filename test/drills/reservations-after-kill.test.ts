import { expect } from "vitest";
import { startHttpServer } from "../support/http-server.ts";
import { until } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { payQuote, post } from "../support/pay-call.ts";
import { allowed, lapse, newTopic, publish, query, scarceTest, settled } from "../support/scarce-agents.ts";

const test = scarceTest();
test.afterEach(({ open }) => open.ledger.faults.clear());

const receiver = "0.0.1003";

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
  expect(late).toMatchObject({ status: 503, body: { charged: false, error: expect.stringContaining("24 hours") } });
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
