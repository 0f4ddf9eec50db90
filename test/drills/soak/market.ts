import {
  AccountAllowanceApproveTransaction,
  Client,
  Hbar,
  PrivateKey,
  TopicCreateTransaction,
  type Transaction,
} from "@hashgraph/sdk";
import type { MockModels } from "../../../infra/mock-models/server.ts";
import { createAccount } from "../../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { createContext } from "../../../marketplace/compose.ts";
import { readConfig } from "../../../marketplace/config.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { createLog } from "../../../shared/log.ts";
import type { World } from "../../bench/soak/world.ts";
import { newBuyer } from "../../support/evm-payments.ts";

/** Tinybars that one run of the agent `tip` moves. */
export const tip = 1_000;

/** A creator with three agents: `echo` can be undone; `note` writes to a topic and `tip` sends HBAR, which cannot. */
export async function openMarket(world: World, variables: Record<string, string>): Promise<OpenMarket> {
  const { ledger } = world;
  const { creator, operator } = ledger.accounts;
  const client = Client.forNetwork({ ...ledger.nodes });
  client.setOperator(operator.accountId, PrivateKey.fromStringDer(operator.privateKey));
  const execute = async (transaction: Transaction, ...signers: PrivateKey[]) => {
    transaction.freezeWith(client);
    for (const signer of signers) await transaction.sign(signer);
    return (await transaction.execute(client)).getReceipt(client);
  };
  const { topicId } = await execute(new TopicCreateTransaction());
  await execute(
    new AccountAllowanceApproveTransaction().approveHbarAllowance(
      creator.accountId,
      operator.accountId,
      Hbar.fromTinybars(100_000_000),
    ),
    PrivateKey.fromStringDer(creator.privateKey),
  );
  client.close();
  const topic = String(topicId);
  const context = await createContext(readConfig(variables), { log: createLog("marketplace", "silent") });
  const account = await createAccount(context.db, { handle: "soak-creator" });
  // What the model of "echo" costs is paid out of this.
  await grant(context.db, { accountId: account.id, credits: credits(1_000_000n) });
  const wallets = { "eip155:84532": newBuyer().address, "hedera:testnet": creator.accountId };
  for (const [network, address] of Object.entries(wallets)) {
    await addPayoutWallet(context.db, { accountId: account.id, network, address, checked: true });
  }
  const text = { name: "text", type: "text", required: true };
  const common = { description: "For the soak.", price_credits: 1, accepts_extra_instructions: false };
  const network = "hedera:testnet";
  await publishAgent(context, account, "echo", {
    ...common,
    name: "Echo",
    connector: "llm",
    fields: [{ ...text, max_length: 200 }],
    settings: { prompt: "{{text}}" },
  });
  await publishAgent(context, account, "note", {
    ...common,
    name: "Note",
    connector: "hcs-write",
    fields: [text],
    settings: { network, topic, message: "{{text}}" },
  });
  await publishAgent(context, account, "tip", {
    ...common,
    name: "Tip",
    connector: "hedera-transfer",
    fields: [{ name: "text", type: "string", required: true }],
    settings: {
      network,
      asset: "hbar",
      to: "{{text}}",
      amount: String(tip),
      per_run_max: String(tip),
      per_day_max: "1000000000",
    },
  });
  await context.stop();
  return { topic };
}

export interface OpenMarket {
  readonly topic: string;
}

export function marketVariables(world: World, { databaseUrl, model, facilitatorUrl }: Parts): Record<string, string> {
  const { nodes, mirror, accounts } = world.ledger;
  return {
    LOG_LEVEL: "error",
    MARKETPLACE_DATABASE_URL: databaseUrl,
    MARKETPLACE_MIGRATE: "on",
    DRAIN_MS: "0",
    MARKETPLACE_PUBLIC_URL: "https://market.example.com",
    FACILITATOR_URL: facilitatorUrl,
    LLM_BASE_URL: model.baseUrl,
    LLM_API_KEY: "soak",
    LLM_MODELS: "gpt-4o-mini=1:4000:40000",
    MODEL_CREDITS_PER_AGENT_DAY: "1000000",
    LIMIT_PUBLIC_PER_ADDRESS: "0",
    LIMIT_QUOTES_PER_ADDRESS: "1000000",
    SESSION_SECRET: "a session secret for the soak, long enough",
    SMTP_URL: "smtp://127.0.0.1:1",
    MAIL_FROM: "a@example.com",
    MARKETPLACE_SEALING_KEY: Buffer.alloc(32, 7).toString("base64"),
    TRUST_PROXY: "loopback",
    LIMIT_FAILED_PROOFS_PER_ADDRESS: "1000000",
    LIMIT_FAILED_PROOFS_PER_PAYER: "1000000",
    RUN_LEASE_MS: "10000",
    HEDERA_NODES: Object.entries(nodes)
      .map((pair) => pair.join("="))
      .join(","),
    HEDERA_MIRROR: mirror,
    HEDERA_OPERATOR_ID: accounts.operator.accountId,
    HEDERA_OPERATOR_KEY: accounts.operator.privateKey,
    HEDERA_VALID_SECONDS: "15",
  };
}

interface Parts {
  readonly databaseUrl: string;
  readonly model: MockModels;
  readonly facilitatorUrl: string;
}
