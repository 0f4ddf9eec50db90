import { AccountId, PrivateKey, TokenId, TransactionId, TransferTransaction } from "@hashgraph/sdk";
import type { LocalHedera } from "../../infra/local-hedera/local-hedera.ts";

export interface HederaTerms {
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly feePayer: string };
}

/** A thousandth of a USDC to the local ledger's creator. */
export function hederaTerms(ledger: Pick<LocalHedera, "usdc" | "accounts">, feePayer: string) {
  return {
    scheme: "exact",
    network: "hedera:testnet",
    asset: ledger.usdc,
    amount: "1000",
    payTo: ledger.accounts.creator.accountId,
    maxTimeoutSeconds: 120,
    extra: { feePayer },
  };
}

export interface HederaBuyer {
  readonly accountId: string;
  readonly privateKey: string;
}

/** What a buyer puts into the payment: a transfer signed by the buyer alone, to be paid for and sent by the fee payer. */
export async function signHederaTransfer(
  buyer: HederaBuyer,
  terms: HederaTerms,
  id = TransactionId.generate(terms.extra.feePayer),
): Promise<{ transaction: string }> {
  const amount = Number(terms.amount);
  const token = TokenId.fromString(terms.asset);
  const transaction = new TransferTransaction()
    .addTokenTransfer(token, AccountId.fromString(buyer.accountId), -amount)
    .addTokenTransfer(token, AccountId.fromString(terms.payTo), amount)
    .setTransactionId(id)
    .setNodeAccountIds([3, 4, 5].map((node) => new AccountId(node)))
    .setTransactionValidDuration(Math.min(180, terms.maxTimeoutSeconds))
    .freeze();
  const signed = await transaction.sign(PrivateKey.fromStringDer(buyer.privateKey));
  return { transaction: Buffer.from(signed.toBytes()).toString("base64") };
}

/** A v2 proof for one entry of a quote. */
export async function hederaProof(buyer: HederaBuyer, terms: HederaTerms, resource: object): Promise<object> {
  return { x402Version: 2, resource, accepted: terms, payload: await signHederaTransfer(buyer, terms) };
}

export async function usdcOf(ledger: Pick<LocalHedera, "mirrorUrl" | "usdc">, accountId: string): Promise<number> {
  const response = await fetch(`${ledger.mirrorUrl}/api/v1/accounts/${accountId}/tokens?token.id=${ledger.usdc}`);
  const { tokens } = (await response.json()) as { tokens: Array<{ balance: number }> };
  return tokens[0]?.balance ?? 0;
}

/** The daemon's variables for a local ledger. */
export function hederaVariables(ledger: LocalHedera): Record<string, string> {
  const { feePayer } = ledger.accounts;
  return {
    HEDERA_TESTNET_NODES: Object.entries(ledger.nodes)
      .map((pair) => pair.join("="))
      .join(","),
    HEDERA_TESTNET_MIRROR: ledger.mirrorUrl,
    HEDERA_TESTNET_FEE_PAYERS: `${feePayer.accountId}:${feePayer.privateKey}`,
  };
}
