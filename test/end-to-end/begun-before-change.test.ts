import { randomBytes } from "node:crypto";
import { TopicCreateTransaction } from "@hashgraph/sdk";
import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { newBuyer } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import { operatorVariables } from "../support/ledger-agents.ts";
import { echoAgent } from "../support/marketplace.ts";
import { perFile } from "../support/part.ts";
import { payQuote, post } from "../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: { ...operatorVariables(open) } }));
test.afterEach(({ paid }) => paid.toFacilitator.behave(() => "pass"));

const network = "eip155:84532";
const refusal = expect.stringContaining("now, which is not what the payment pays");
const text = { name: "text", type: "text", required: true };

test("a result that is not paid yet is had at its price, and not for money to a wallet that its seller has left", async ({
  paid,
}) => {
  const { context, model } = paid.marketplace;
  const creator = await createAccount(context.db, { handle: `w-${randomBytes(4).toString("hex")}` });
  const moveTo = (address: string) =>
    addPayoutWallet(context.db, { accountId: creator.id, network, address, checked: true });
  const before = newBuyer().address;
  await moveTo(before);
  const publish = (price: number) =>
    publishAgent(context, creator, "echo", { ...echoAgent, price_credits: price, settings: { prompt: "{{text}}" } });
  const url = `${paid.marketplace.url}/api/agent/${(await publish(5)).address}`;
  const body = { text: "made" };
  const buy = async (fault: "lose-call" | "lose-answer") => {
    const proof = await payQuote(paid, "evm", await post(url, { body }));
    paid.toFacilitator.behave((path) => (path === "/settle" ? fault : "pass"));
    expect((await post(url, { body, proof })).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    return proof;
  };
  const unpaid = await buy("lose-call");
  const paidBefore = await buy("lose-answer");
  const asked = model.asked();
  await publish(500);
  await moveTo(newBuyer().address);
  const refused = await post(url, { body, proof: unpaid });
  expect(refused).toMatchObject({ status: 402, body: { error: expect.stringContaining("is not paid to") } });
  expect(await post(url, { body, proof: paidBefore })).toMatchObject({ status: 200 });
  await moveTo(before);
  expect(await post(url, { body, proof: unpaid })).toMatchObject({ status: 200 });
  expect(model.asked()).toBe(asked);
});

test.for(["done first and paid then", "paid first, since it cannot be undone"])(
  "an unsettled payment whose call was begun is held to the present price, wallet and market, when it is %s",
  async (kind, { open, paid }) => {
    const { context } = paid.marketplace;
    const creator = await createAccount(context.db, { handle: `w-${randomBytes(4).toString("hex")}` });
    const payTo = async () => {
      const { address } = newBuyer();
      await addPayoutWallet(context.db, { accountId: creator.id, network, address, checked: true });
      return address;
    };
    const before = await payTo();
    const { accountId: onHedera } = open.accounts.creator;
    await addPayoutWallet(context.db, {
      accountId: creator.id,
      network: "hedera:testnet",
      address: onHedera,
      checked: true,
    });
    const isPermanent = kind.startsWith("paid");
    const topic = isPermanent && (await open.run(new TopicCreateTransaction())).topicId!.toString();
    const does = isPermanent
      ? { connector: "hcs-write", settings: { network: "hedera:testnet", topic, message: "{{text}}" } }
      : { connector: "llm", settings: { system: "Repeat.", prompt: "{{text}}" } };
    const publish = (price: number) =>
      publishAgent(context, creator, "writer", {
        name: "Writer",
        description: "Writes.",
        price_credits: price,
        fields: [text],
        ...does,
      });
    const { address } = await publish(5);
    const url = `${paid.marketplace.url}/api/agent/${address}`;
    const body = { text: "first" };
    const proof = await payQuote(paid, "evm", await post(url, { body }));
    // Begun, and nothing more: the facilitator never hears of the settlement.
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await post(url, { body, proof })).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    await context.db.query(
      "update paid_calls set output = null, receipt = null, result_at = null where transaction_id is null",
    );

    await publish(500);
    const dearer = await post(url, { body: { text: "another" }, proof });
    expect(dearer).toMatchObject({ status: 402, body: { error: refusal } });
    await publish(5);
    await payTo();
    const other = await post(url, { body, proof });
    expect(other).toMatchObject({ status: 402, body: { error: refusal } });
    await addPayoutWallet(context.db, { accountId: creator.id, network, address: before, checked: true });
    await moveAgent(context.db, address, "unpublish");
    expect((await post(url, { body, proof })).status).toBe(404);
    await publish(5);
    expect(await post(url, { body, proof })).toMatchObject({ status: 200 });
  },
);
