import { randomInt } from "node:crypto";
import { TransactionId } from "@hashgraph/sdk";
import { type Buyer, type EvmTerms, paymentBody } from "../../support/evm-payments.ts";
import { signHederaTransfer } from "../../support/hedera-payments.ts";
import type { LedgerProcess } from "../ledger-process.ts";

/** A payment that was not posted before, and what identifies it on its chain. */
export interface MadePayment {
  readonly network: string;
  /** As the daemon keys it: `asset:from:nonce`, or the Hedera transaction id. */
  readonly key: string;
  readonly body: string;
}

export const price = 1_000n;
/** Short, so that the end of what went wrong is soon certain. */
const validSeconds = 60;

export async function evmPayment(buyer: Buyer, terms: EvmTerms): Promise<MadePayment> {
  const body = await paymentBody(buyer, terms);
  const { from, nonce } = body.paymentPayload.payload.authorization;
  const key = `${terms.asset}:${from}:${nonce}`.toLowerCase();
  return { network: terms.network, key, body: JSON.stringify(body) };
}

let made = 0;

export async function hederaPayment({ accounts, usdc }: LedgerProcess): Promise<MadePayment> {
  const { feePayer, buyer, creator } = accounts;
  const terms = {
    scheme: "exact",
    network: "hedera:testnet",
    asset: usdc,
    amount: String(price),
    payTo: creator.accountId,
    maxTimeoutSeconds: validSeconds,
    extra: { feePayer: feePayer.accountId },
  };
  // The last digits count, so that no two ids of a run are the same.
  made = (made + 1) % 1_000_000;
  const seconds = Math.floor(Date.now() / 1_000) - 1;
  const nanos = String(randomInt(1_000) * 1_000_000 + made).padStart(9, "0");
  const key = `${feePayer.accountId}@${seconds}.${nanos}`;
  const payload = await signHederaTransfer(buyer, terms, TransactionId.fromString(key));
  const paymentPayload = { x402Version: 2, accepted: terms, payload };
  return {
    network: terms.network,
    key,
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: terms }),
  };
}
