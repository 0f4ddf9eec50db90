import { expect } from "vitest";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { type LedgerMarket, newTopic } from "../../support/ledger-agents.ts";
import { run, seedMarket, until } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";

let mirrorUrl = "";
let slowTopic = "none";
let held: Array<() => void> = [];

/** The ledger's mirror, which answers late about one topic. */
const startMirror = () =>
  startHttpServer(async (request, response) => {
    if (request.url!.includes(slowTopic)) await new Promise<void>((resolve) => held.push(resolve));
    const answer = await fetch(mirrorUrl + request.url);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });

const test = ledgerMarketTest()
  .extend("mirror", perFile, part(startMirror))
  .extend("env", perFile, ({ mirror }) => ({ HEDERA_MIRROR: mirror.url }));

async function writerOf(market: LedgerMarket, address: string) {
  const seeded = await seedMarket(market.context, {});
  const wallet = { accountId: seeded.creator.id, network: "hedera:testnet", address, checked: true };
  await addPayoutWallet(market.context.db, wallet);
  const topic = await newTopic(market, "open");
  const agent = await publishAgent(market.context, seeded.creator, `writer-${topic.replaceAll(".", "-")}`, {
    name: "Writer",
    description: "Writes to the ledger.",
    connector: "hcs-write",
    price_credits: 1,
    fields: [{ name: "text", type: "text" }],
    settings: { network: "hedera:testnet", topic, message: "{{text}}" },
  });
  return { topic, send: () => run(market, seeded.key, agent.address, { text: "told" }) };
}

test("one account's slow reads before it writes to Hedera are few at a time, and keep no other account's waiting", async ({
  market,
}) => {
  mirrorUrl = market.open.ledger.mirrorUrl;
  const { creator, buyer } = market.open.accounts;
  const [one, two] = [await writerOf(market, creator.accountId), await writerOf(market, buyer.accountId)];
  slowTopic = one.topic;
  let ended = 0;
  const runs = Array.from({ length: 80 }, () =>
    one.send().finally(() => {
      ended += 1;
    }),
  );
  await until(() => held.length > 0);
  const { status, body } = await two.send();
  expect([status, body.output?.status]).toEqual([200, "SUCCESS"]);
  expect(ended).toBe(0);
  expect(held.length).toBeLessThanOrEqual(8);
  slowTopic = "none";
  for (const end of held) end();
  held = [];
  await Promise.all(runs);
});
