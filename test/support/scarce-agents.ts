import { TopicCreateTransaction } from "@hashgraph/sdk";
import { startMockX } from "../../infra/mock-x/server.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import type { OpenLedger } from "../infra/local-hedera/sdk.ts";
import { paidTest } from "./fixtures.ts";
import { allow, operatorVariables } from "./ledger-agents.ts";
import type { TestMarketplace } from "./marketplace.ts";
import type { PaidMarket } from "./paid-market.ts";
import { part, perFile } from "./part.ts";

/** Two copies of a marketplace whose agents have enough for few buyers. */
export const scarceTest = () =>
  paidTest()
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

let agents = 0;

export async function publish(paid: PaidMarket, copy: TestMarketplace, connector: string, settings: object) {
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

export const allowed = (open: OpenLedger, amount: number) => allow({ open } as Parameters<typeof allow>[0], amount);
export const newTopic = async (open: OpenLedger) => (await open.run(new TopicCreateTransaction())).topicId!.toString();
export const query = async (paid: PaidMarket, text: string, values: unknown[] = []) =>
  (await paid.marketplace.context.db.query(text, values)).rows;
export const settled = async (paid: PaidMarket) => {
  const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
  return Number(rows[0].count);
};

/** As waiting would, ends the leases of what no copy works on any more. */
export async function lapse(paid: PaidMarket): Promise<void> {
  await query(paid, "update runs set lease_until = now() - interval '1 second' where state = 'running'");
  await query(paid, "update paid_calls set lease_until = now() where lease_until is not null");
  await query(paid, "update reservations set until = now() where spent_at is null");
}
