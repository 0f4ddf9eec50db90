import { TopicCreateTransaction } from "@hashgraph/sdk";
import { expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { paidTest } from "../../support/fixtures.ts";
import { operatorVariables } from "../../support/ledger-agents.ts";
import { until } from "../../support/marketplace.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { perFile } from "../../support/part.ts";
import { payQuote, post } from "../../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: operatorVariables(open) }));

test.afterEach(({ open }) => open.ledger.faults.clear());

async function writer(open: OpenLedger, paid: PaidMarket) {
  const topic = (await open.run(new TopicCreateTransaction())).topicId!.toString();
  const { address, agentId } = await publishAgent(
    paid.marketplace.context,
    paid.market.creator,
    `hcs-${topic.replaceAll(".", "-")}`,
    {
      name: "Writer",
      description: "Writes to a topic.",
      connector: "hcs-write",
      price_credits: 5,
      fields: [{ name: "text", type: "text", required: true }],
      settings: { network: "hedera:testnet", topic, message: "{{text}}" },
    },
  );
  const url = `${paid.marketplace.url}/api/agent/${address}`;
  const body = { text: "paid for" };
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  const written = async () => (await open.mirror(`topics/${topic}/messages`)).messages.length;
  const settled = async () => {
    const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
    return Number(rows[0].count);
  };
  return { agentId, topic, written, settled, send: () => post(url, { body, proof }) };
}

test("a paid call writes once, is settled before, and its proof buys nothing more", async ({ open, paid }) => {
  const { send, written, settled, topic } = await writer(open, paid);
  const before = await settled();
  const answers = await Promise.all([send(), send(), send()]);
  const [delivered] = answers.filter(({ status }) => status === 200);
  expect(delivered?.body).toMatchObject({
    output: { kind: "receipt", status: "SUCCESS" },
    receipt: { topicId: topic, sequence: 1 },
  });
  expect((await send()).status).not.toBe(200);
  expect(await written()).toBe(1);
  expect(await settled()).toBe(before + 1);
});

test("a run that certainly failed keeps the payment good: the same proof runs again without paying again", async ({
  open,
  paid,
}) => {
  const { send, written, settled } = await writer(open, paid);
  const before = await settled();
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  expect(await send()).toMatchObject({ status: 500, body: { charged: true } });
  expect(await written()).toBe(0);
  expect((await send()).status).toBe(200);
  expect(await written()).toBe(1);
  expect(await settled()).toBe(before + 1);
});

test("a run whose outcome nobody knows is never run again: the same proof fetches what it came to", async ({
  open,
  paid,
}) => {
  const { agentId, send, written, settled } = await writer(open, paid);
  const before = await settled();
  // The chain executes nothing until its nodes no longer answer.
  open.ledger.faults.set({ consensusDelayMs: 600_000 });
  const first = send();
  const begun = "select 1 from effects where agent_id = $1 and state = 'open'";
  await until(async () => (await paid.marketplace.context.db.query(begun, [agentId])).rows.length === 1);
  open.ledger.faults.set({ queryUnavailable: 1_000_000, mirrorUnavailable: 1_000_000, consensusDelayMs: 0 });
  const { status, body } = await first;
  expect(status).toBe(503);
  expect(body.error).toContain("not known yet");
  expect((await send()).status).toBe(503);
  open.ledger.faults.clear();
  const answer = await send();
  expect(answer).toMatchObject({ status: 200, body: { output: { kind: "receipt", status: "SUCCESS" } } });
  expect(await written()).toBe(1);
  expect(await settled()).toBe(before + 1);
});

test("a connection to the database that ends in a run is not the agent's failure: it is asked again later, and the same proof runs then", async ({
  open,
  paid,
}) => {
  const { send, written, settled } = await writer(open, paid);
  const before = await settled();
  const { db } = paid.marketplace.context;
  await db.query(
    `create function end_connection() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
     create trigger end_connection before insert on effects for each row execute function end_connection()`,
  );
  try {
    const answer = await send();
    expect(answer).toMatchObject({ status: 503, body: { charged: true } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  } finally {
    await db.query("drop function end_connection cascade");
  }
  expect((await send()).status).toBe(200);
  expect(await written()).toBe(1);
  expect(await settled()).toBe(before + 1);
});

test("whoever hears late of the end of an attempt does not close the one that came after it", async ({
  open,
  paid,
}) => {
  const { agentId, send, written } = await writer(open, paid);
  const { db, tools } = paid.marketplace.context;
  const ofAgent = "select key, transaction_ids, state from effects where agent_id = $1";
  const effect = async () => (await db.query(ofAgent, [agentId])).rows[0];
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  expect((await send()).status).toBe(500);
  const { key, transaction_ids: transactionIds, state } = await effect();
  expect(state).toBe("void");
  open.ledger.faults.set({ consensusDelayMs: 600_000 });
  const second = send();
  await until(async () => (await effect()).state === "open");
  await tools.sideEffects.close({ key, transactionIds }, {});
  expect((await effect()).state).toBe("open");
  open.ledger.faults.set({ consensusDelayMs: 0 });
  expect((await second).status).toBe(200);
  expect((await effect()).state).toBe("done");
  expect(await written()).toBe(1);
});
