import { randomBytes } from "node:crypto";
import { TopicCreateTransaction } from "@hashgraph/sdk";
import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent, saveDraft } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { paidTest } from "../support/fixtures.ts";
import { operatorVariables } from "../support/ledger-agents.ts";
import { startCopy } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { perFile } from "../support/part.ts";
import { payQuote, post } from "../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: { ...operatorVariables(open) } }));
test.afterEach(({ open, paid }) => {
  open.ledger.faults.clear();
  paid.toFacilitator.behave(() => "pass");
});

const text = { name: "text", type: "text", required: true };
const body = { text: "as bought" };
/** More than are kept of those that nobody paid for. */
const saves = 105;

async function creatorWith(paid: PaidMarket, wallets: Readonly<Record<string, string>>) {
  const { db } = paid.marketplace.context;
  const creator = await createAccount(db, { handle: `v-${randomBytes(4).toString("hex")}` });
  for (const [network, address] of Object.entries(wallets))
    await addPayoutWallet(db, { accountId: creator.id, network, address, checked: true });
  return creator;
}

test("what an agent owes is still had after its creator has saved it a hundred times", async ({ open, paid }) => {
  const { context } = paid.marketplace;
  const wallets = { "eip155:84532": paid.evmWallet, "hedera:testnet": open.accounts.creator.accountId };
  const creator = await creatorWith(paid, wallets);
  const topic = (await open.run(new TopicCreateTransaction())).topicId!.toString();
  const saying = (description: string) => ({
    name: "Writer",
    description,
    price_credits: 5,
    fields: [text],
    connector: "hcs-write",
    settings: { network: "hedera:testnet", topic, message: "{{text}}" },
  });
  const { address } = await publishAgent(context, creator, "writer", saying("Writes."));
  const url = `${paid.marketplace.url}/api/agent/${address}`;
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  expect(await post(url, { body, proof })).toMatchObject({ status: 503, body: { charged: true } });
  await publishAgent(context, creator, "writer", saying("Writes it."));
  for (let n = 0; n < saves; n += 1) await saveDraft(context, creator, "writer", saying(`Writes ${n}.`));
  expect(await post(url, { body, proof })).toMatchObject({ status: 200 });
  const { rows } = await context.db.query("select count(*)::int as kept from agent_versions where name = 'Writer'");
  expect(rows[0].kept).toBeLessThan(saves);
});

test("a result that waits for its buyer is had after that, with another field or the agent suspended", async ({
  paid,
}) => {
  const { context } = paid.marketplace;
  const creator = await creatorWith(paid, { "eip155:84532": paid.evmWallet });
  const saying = (description: string, more: readonly object[] = []) => ({
    name: "Echo",
    description,
    price_credits: 5,
    fields: [text, ...more],
    connector: "llm",
    settings: { system: "Repeat.", prompt: "{{text}}" },
  });
  const { address } = await publishAgent(context, creator, "echo", saying("Says."));
  const url = `${paid.marketplace.url}/api/agent/${address}`;
  const buy = async () => {
    const proof = await payQuote(paid, "evm", await post(url, { body }));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await post(url, { body, proof })).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    return proof;
  };
  const [one, other] = [await buy(), await buy()];
  const added = { name: "tone", type: "string", default: "plain" };
  await publishAgent(context, creator, "echo", saying("Says it.", [added]));
  for (let n = 0; n < saves; n += 1) await saveDraft(context, creator, "echo", saying(`Says ${n}.`, [added]));
  const copy = await startCopy(paid.marketplace);
  try {
    const elsewhere = `${copy.url}/api/agent/${address}`;
    expect(await post(elsewhere, { body, proof: one })).toMatchObject({ status: 200 });
    await moveAgent(context.db, address, "suspend");
    expect(await post(elsewhere, { body, proof: other })).toMatchObject({ status: 200 });
  } finally {
    await copy.stop();
  }
});

test("a replaced version goes once it was replaced long ago, and not before", async ({ paid }) => {
  const { context } = paid.marketplace;
  const creator = await creatorWith(paid, {});
  const saying = (description: string) => ({
    name: "Old",
    description,
    price_credits: 0,
    fields: [text],
    connector: "llm",
    settings: { system: "Repeat.", prompt: "{{text}}" },
  });
  const { agentId } = await publishAgent(context, creator, "old", saying("First."));
  await publishAgent(context, creator, "old", saying("Second."));
  const isKept = async () => {
    for (let n = 0; n < saves; n += 1) await saveDraft(context, creator, "old", saying(`Draft ${Math.random()}.`));
    const { rows } = await context.db.query("select from agent_versions where agent_id = $1 and version = 1", [
      agentId,
    ]);
    return rows.length === 1;
  };
  expect(await isKept()).toBe(true);
  await context.db.query(
    "update agent_versions set published_at = published_at - interval '51 days' where agent_id = $1",
    [agentId],
  );
  expect(await isKept()).toBe(false);
});

test("as many published versions as may be kept are refused one more, until some of them go", async ({ paid }) => {
  const { db } = paid.marketplace.context;
  const creator = await creatorWith(paid, {});
  const saying = (description: string) => ({
    name: "Often",
    description,
    price_credits: 0,
    fields: [text],
    connector: "llm",
    settings: { system: "Repeat.", prompt: "{{text}}" },
  });
  const publish = (description: string) =>
    publishAgent(paid.marketplace.context, creator, "often", saying(description));
  const { agentId } = await publish("First.");
  await db.query(
    `insert into agent_versions select (jsonb_populate_record(v, jsonb_build_object('version', n))).*
       from agent_versions v, generate_series(2, 1000) n where v.agent_id = $1 and v.version = 1`,
    [agentId],
  );
  await expect(publish("One more.")).rejects.toThrow("An agent may be published 1000 times in 50 days");
  await db.query("update agent_versions set published_at = now() - interval '51 days' where agent_id = $1", [agentId]);
  await publish("One more.");
});
