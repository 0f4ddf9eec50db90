import { TopicCreateTransaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { closeOverdueSideEffects, recoverLostRuns } from "../../../marketplace/runs/recover.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { paidTest } from "../../support/fixtures.ts";
import { operatorVariables } from "../../support/ledger-agents.ts";
import { type TestMarketplace, until } from "../../support/marketplace.ts";
import { startProcess } from "../../support/marketplace-process.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { perFile } from "../../support/part.ts";
import { payQuote, post } from "../../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: operatorVariables(open) }));

test.afterEach(({ open, paid }) => {
  open.ledger.faults.clear();
  paid.toFacilitator.behave(() => "pass");
});

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
  const urlAt = (service: string) => `${service}/api/agent/${address}`;
  const body = { text: "paid for" };
  const proof = await payQuote(paid, "evm", await post(urlAt(paid.marketplace.url), { body }));
  const written = async () => (await open.mirror(`topics/${topic}/messages`)).messages.length;
  const settled = async () => {
    const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
    return Number(rows[0].count);
  };
  return {
    agentId,
    topic,
    written,
    settled,
    send: (service = paid.marketplace.url) => post(urlAt(service), { body, proof }),
  };
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
  expect(await send()).toMatchObject({ status: 503, body: { charged: true } });
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
  expect((await send()).status).toBe(503);
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

describe("a payment whose copy is killed", () => {
  type Killed = Awaited<ReturnType<typeof writer>> & { readonly open: OpenLedger; readonly paid: PaidMarket };

  /** How a post is stopped where its copy is to be killed; what this answers lets other copies go on. */
  const moments = {
    "before it hears that the payment is settled": async ({ paid: { toFacilitator } }: Killed) => {
      let settles = 0;
      toFacilitator.behave((path) => {
        if (path !== "/settle") return "pass";
        settles += 1;
        return settles === 1 ? "lose-answer" : "hold";
      });
      return { stopped: async () => toFacilitator.held() > 0, goOn: async () => toFacilitator.behave(() => "pass") };
    },
    "before its run begins anything": async ({ agentId, paid: { marketplace } }: Killed) => {
      const { db } = marketplace.context;
      const blocking = await db.connect();
      await blocking.query("set idle_in_transaction_session_timeout = 0; begin; lock table effects in exclusive mode");
      const isOpen = "select from runs where agent_id = $1 and state = 'running'";
      return {
        stopped: async () => (await db.query(isOpen, [agentId])).rows.length > 0,
        goOn: async () => {
          await blocking.query("rollback");
          blocking.release(true);
        },
      };
    },
    "while the chain has what its run began": async ({ agentId, open, paid: { marketplace } }: Killed) => {
      open.ledger.faults.set({ consensusDelayMs: 600_000, dropReply: 1 });
      const isBegun = "select from effects where agent_id = $1 and state = 'open'";
      return {
        stopped: async () =>
          (await marketplace.context.db.query(isBegun, [agentId])).rows.length > 0 &&
          open.ledger.faults.current().dropReply === undefined,
        goOn: async () => open.ledger.faults.clear(),
      };
    },
  };

  const lapse = async ({ context: { db } }: TestMarketplace, agentId: string) => {
    const past = "lease_until = now() - interval '1 s'";
    await db.query(`update paid_calls set ${past} where product = $1 and holder is not null`, [agentId]);
    await db.query(`update runs set ${past} where agent_id = $1 and state = 'running'`, [agentId]);
  };

  test.for(Object.entries(moments))(
    "%s buys one run, though its buyer asks two other copies while both recover",
    async ([, stop], { open, paid, copy }) => {
      const { marketplace } = paid;
      const { db } = marketplace.context;
      const written = await writer(open, paid);
      const { agentId, send } = written;
      const before = await written.settled();
      const doomed = await startProcess({ ...marketplace.environment, HEDERA_VALID_SECONDS: "90" });
      const { stopped, goOn } = await stop({ ...written, open, paid });
      const died = send(doomed.url).catch(() => "died");
      await until(stopped);
      doomed.child.kill("SIGKILL");
      expect(await died).toBe("died");
      await goOn();
      await lapse(marketplace, agentId);
      const copies = [marketplace, copy];
      const recover = copies.flatMap(({ context }) => [recoverLostRuns(context), closeOverdueSideEffects(context)]);
      const answers = await Promise.all(copies.map(({ url }) => send(url)));
      await Promise.all(recover);
      while (answers.at(-1)?.status === 503) answers.push(await send());
      expect(answers.filter(({ status }) => status === 200)).not.toEqual([]);
      expect((await send()).status).toBe(402);
      expect([await written.written(), await written.settled()]).toEqual([1, before + 1]);
      await lapse(marketplace, agentId);
      for (const { context } of copies) await recoverLostRuns(context);
      const { rows } = await db.query("select state from runs where agent_id = $1 and state <> 'lost'", [agentId]);
      expect(rows).toEqual([{ state: "succeeded" }]);
      expect((await db.query("select from debts where agent_id = $1", [agentId])).rows).toEqual([]);
    },
  );
});
