import { AccountAllowanceApproveTransaction, Hbar, TopicCreateTransaction } from "@hashgraph/sdk";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { type Published, publishAgent } from "../../marketplace/agents/publish.ts";
import { type OpenLedger, openLedger } from "../infra/local-hedera/sdk.ts";
import { type Market, seedMarket, startMarketplace, type TestMarketplace } from "./marketplace.ts";

/** A marketplace with an operator on a local ledger. Transactions live 15 seconds, so that waiting for their end is short. */
export async function startLedgerMarket(env: Record<string, string> = {}): Promise<LedgerMarket> {
  const open = await openLedger();
  const variables = { ...operatorVariables(open), ...env };
  const market = await startMarketplace({ env: variables });
  return {
    ...market,
    open,
    variables,
    stop: async () => {
      await market.stop();
      await open.close();
    },
  };
}

export interface LedgerMarket extends TestMarketplace {
  readonly open: OpenLedger;
  readonly variables: Record<string, string>;
}

/** A creator whose checked wallet is the ledger's creator account, with `publish` for agents of theirs. */
export async function seedLedgerCreator(market: LedgerMarket, seed: Parameters<typeof seedMarket>[1] = {}) {
  const seeded: Market = await seedMarket(market.context, seed);
  const address = market.open.accounts.creator.accountId;
  const wallet = { accountId: seeded.creator.id, network: "hedera:testnet", address, checked: true };
  await addPayoutWallet(market.context.db, wallet);
  const publish = (connector: string, settings: object, more: object = {}): Promise<Published> =>
    publishAgent(market.context, seeded.creator, `${connector}-${Math.random().toString(36).slice(2, 8)}`, {
      name: "On the ledger",
      description: "Writes to the ledger.",
      connector,
      price_credits: 5,
      fields: [
        { name: "text", type: "text" },
        { name: "to", type: "string" },
        { name: "amount", type: "string" },
      ],
      settings: { network: "hedera:testnet", ...settings },
      ...more,
    });
  return { ...seeded, publish };
}

/** The creator's wallet allows the operator tinybars or units of a token. */
export async function allow({ open }: LedgerMarket, amount: number, token?: string): Promise<void> {
  const { creator, operator } = open.accounts;
  const approve = new AccountAllowanceApproveTransaction();
  if (token) approve.approveTokenAllowance(token, creator.accountId, operator.accountId, amount);
  else approve.approveHbarAllowance(creator.accountId, operator.accountId, Hbar.fromTinybars(amount));
  await open.run(approve, open.keys.creator);
}

export async function newTopic(
  { open }: LedgerMarket,
  restricted: "open" | "creator's" | "somebody's",
): Promise<string> {
  const create = new TopicCreateTransaction();
  if (restricted !== "open") create.setSubmitKey(open.keys.operator.publicKey);
  if (restricted === "creator's") create.setAdminKey(open.keys.creator.publicKey);
  if (restricted === "somebody's") create.setAdminKey(open.keys.buyer.publicKey);
  const signers =
    restricted === "creator's" ? [open.keys.creator] : restricted === "somebody's" ? [open.keys.buyer] : [];
  return (await open.run(create, ...signers)).topicId!.toString();
}

export function operatorVariables({ ledger }: Pick<OpenLedger, "ledger">): Record<string, string> {
  const { accountId, privateKey } = ledger.accounts.operator;
  return {
    HEDERA_NODES: Object.entries(ledger.nodes)
      .map((pair) => pair.join("="))
      .join(","),
    HEDERA_MIRROR: ledger.mirrorUrl,
    HEDERA_OPERATOR_ID: accountId,
    HEDERA_OPERATOR_KEY: privateKey,
    HEDERA_VALID_SECONDS: "15",
  };
}
