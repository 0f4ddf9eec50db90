import { setTimeout as pause } from "node:timers/promises";
import { startMockModels } from "../../infra/mock-models/server.ts";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { toolNameOf } from "../../marketplace/agent-address.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { setCallCeiling } from "../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { createContext } from "../../marketplace/compose.ts";
import { readConfig } from "../../marketplace/config.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { createLog } from "../../shared/log.ts";
import type { World } from "../bench/soak/world.ts";
import { newBuyer } from "../support/evm-payments.ts";
import { startHttpServer } from "../support/http-server.ts";
import { marketVariables } from "./soak/market.ts";

/** Longer than a copy goes on to take calls after it was told to stop. */
const slowMs = 6_500;

/** What the agents of a drill call: a model, and a service that answers slowly. */
export async function startAgentBackends() {
  const model = await startMockModels({ apiKey: "soak" });
  const slow = await startHttpServer(async (_request, response) => {
    await pause(slowMs);
    response.setHeader("content-type", "application/json").end('{"slow":true}');
  });
  return {
    variables: (world: World, databaseUrl: string, facilitatorUrl: string): Record<string, string> => ({
      ...marketVariables(world, { databaseUrl, model, facilitatorUrl }),
      LLM_MODELS: "gpt-4o-mini=0:4000:40000",
      OUTBOUND_ALLOW_HOSTS: slow.host,
    }),
    slowUrl: `${slow.url}/`,
    stop: async () => {
      await slow.stop();
      await model.stop();
    },
  };
}

/** A creator who is paid per call for an agent that answers at once and one that does not, and a buyer's key that has both as tools. */
export async function seedAgents(variables: Record<string, string>, slowUrl: string): Promise<Seeded> {
  const context = await createContext(readConfig(variables), { log: createLog("marketplace", "silent") });
  const { db } = context;
  const creator = await createAccount(db, { handle: "drill-creator" });
  const buyer = await createAccount(db, { handle: "drill-buyer" });
  for (const { id } of [creator, buyer]) {
    await setCallCeiling(db, id, 100_000);
    await grant(db, { accountId: id, credits: credits(10_000_000n) });
  }
  const wallet = newBuyer().address;
  await addPayoutWallet(db, { accountId: creator.id, network: "eip155:84532", address: wallet, checked: true });
  const common = {
    description: "For a drill.",
    price_credits: 1,
    accepts_extra_instructions: false,
    fields: [{ name: "text", type: "text", required: true, max_length: 200 }],
  };
  const quick = { ...common, name: "Echo", connector: "llm", settings: { prompt: "{{text}}" } };
  const slow = { ...common, name: "Slow", connector: "http-api", settings: { url: `${slowUrl}?text={{text}}` } };
  await publishAgent(context, creator, "echo", quick);
  await publishAgent(context, creator, "slow", slow);
  const agents = ["drill-creator/echo", "drill-creator/slow"];
  const key = {
    accountId: buyer.id,
    name: "drill",
    scope: "chosen_agents",
    agents,
    rateLimitPerMinute: 10_000,
  } as const;
  const { token } = await createKey(db, key);
  await context.stop();
  return {
    key: token,
    wallet,
    agent: "drill-creator/echo",
    quickTool: toolNameOf("drill-creator", "echo"),
    slowTool: toolNameOf("drill-creator", "slow"),
  };
}

export interface Seeded {
  readonly key: string;
  /** The creator's, on the EVM chain. */
  readonly wallet: `0x${string}`;
  readonly agent: string;
  readonly quickTool: string;
  readonly slowTool: string;
}
