import { toBase64 } from "../base64.ts";
import { NotPaidError } from "../errors.ts";
import { authorizationOf, typedDataOf } from "./eip3009.ts";
import {
  hederaNodes,
  hederaTransfer,
  signatureMap,
  transactionId,
  transactionList,
  transferBody,
} from "./hedera-transfer.ts";
import { atomicOf, dollarsOf } from "./price.ts";
import type { Quote, Requirements } from "./quote.ts";
import type { SignedPayment } from "./signed-payment.ts";
import { usdcOn } from "./stablecoins.ts";
import type { EvmAccount, HederaAccount, Wallets } from "./wallets.ts";

/** What a payer agrees to. */
export interface PriceLimit {
  /** What the call may cost at most, in US dollars: `"0.05"`. Nothing dearer is signed. */
  readonly max_usd: string | number;
  /** CAIP-2; the first that is offered and can be paid when left out. */
  readonly network?: string | undefined;
}

/** The first way to pay that a wallet of the payer's can take, for no more than agreed to. Throws NotPaidError. */
export function chooseRequirements(quote: Quote, wallets: Wallets, { max_usd, network }: PriceLimit): Requirements {
  const max = atomicOf(max_usd);
  const offered = quote.accepts.filter((entry) => entry.scheme === "exact" && isWellFormed(entry));
  const payable = offered.filter(
    (entry) => walletFor(entry.network, wallets) && (network === undefined || network === entry.network),
  );
  const cheap = payable.find(({ amount }) => BigInt(amount) <= max);
  if (cheap) return cheap;
  const [dear] = payable;
  if (dear) {
    const price = dollarsOf(BigInt(dear.amount));
    throw new NotPaidError(`It costs ${price} USDC, which is more than ${dollarsOf(max)}. Nothing was signed.`);
  }
  const networks = offered.map((entry) => entry.network).join(", ") || "no network that is known here";
  const isOffered = network === undefined || offered.some((entry) => entry.network === network);
  const wanted = isOffered ? `There is no wallet for ${network ?? "it"}.` : `You asked for ${network}.`;
  throw new NotPaidError(`It can be paid on ${networks}. ${wanted} Nothing was signed.`);
}

/** Throws NotPaidError where a payment that was signed before is not what is agreed to now. */
export function refuseBeyond({ max_usd, network }: PriceLimit, open: SignedPayment): void {
  const max = atomicOf(max_usd);
  const isDear = BigInt(open.amount) > max;
  if (!isDear && (network === undefined || network === open.network)) return;
  const why = isDear ? `, which is more than ${dollarsOf(max)}` : `; you asked for ${network}`;
  throw openError(open, `on ${open.network} is open for the same purchase${why}`, "Allow that to go on with it");
}

/** Throws NotPaidError where none of these wallets signed the payment: what it buys is another payer's. */
export function refuseOtherWallet(open: SignedPayment, { evm, hedera }: Wallets): void {
  const own = open.network.startsWith("eip155:") ? evm?.address : hedera?.accountId;
  if (own?.toLowerCase() === open.payer.toLowerCase()) return;
  const whose = `by ${open.payer}, which is no wallet of this client, is open for the same purchase`;
  throw openError(open, whose, "Go on with that wallet, repeat the payment");
}

/** Throws NotPaidError where a payment was signed under another key than `key`: it buys for that key's account. */
export function refuseOtherKey(open: SignedPayment, key: string | undefined): void {
  if (open.key === undefined || open.key === key) return;
  const whose = "that was begun with another key is open for the same purchase";
  throw openError(open, whose, "Go on with that key, repeat the payment with one of its account");
}

function openError(open: SignedPayment, said: string, advice: string): NotPaidError {
  const begun = `A payment of ${dollarsOf(BigInt(open.amount))} USDC ${said}. Nothing was sent.`;
  return new NotPaidError(`${begun} ${advice}, or name another purchase.`, { payment: open, charged: "unknown" });
}

/** Whole base units of the chain's USDC, to an account of that chain, within an hour. */
function isWellFormed({ network, asset, amount, payTo, maxTimeoutSeconds, extra }: Requirements): boolean {
  const usdc = usdcOn[network]?.toLowerCase();
  const isSoon = Number.isInteger(maxTimeoutSeconds) && maxTimeoutSeconds > 0 && maxTimeoutSeconds <= 3_600;
  const isSound = isSoon && /^\d{1,30}$/.test(amount);
  if (!isSound || usdc === undefined || usdc !== String(asset).toLowerCase()) return false;
  if (network.startsWith("eip155:")) return /^0x[0-9a-fA-F]{40}$/.test(payTo);
  return /^0\.0\.\d+$/.test(payTo) && /^0\.0\.\d+$/.test(String(extra?.feePayer));
}

function walletFor(network: string, { evm, hedera }: Wallets): EvmAccount | HederaAccount | undefined {
  return network.startsWith("eip155:") ? evm : hedera;
}

/** A signature, and how it is known. */
export interface Signature {
  /** `payload` of the payment. */
  readonly payload: object;
  readonly payer: string;
  /** How `GET /api/payments` is asked about it. */
  readonly asked: Readonly<Record<string, string>>;
  /** For so long from now it can land. */
  readonly goodForSeconds: number;
}

/** Has the payer's wallet sign; `at` is when the quote was made, by the server's clock. */
export function sign(requirements: Requirements, wallets: Wallets, at: Date): Promise<Signature> {
  const { network } = requirements;
  if (network.startsWith("eip155:") && wallets.evm) return signEvm(requirements, wallets.evm, at);
  if (network.startsWith("hedera:") && wallets.hedera) return signHedera(requirements, wallets.hedera, at);
  throw new NotPaidError(`There is no wallet for ${network}. Nothing was signed.`);
}

async function signEvm(requirements: Requirements, account: EvmAccount, at: Date): Promise<Signature> {
  const { network, maxTimeoutSeconds } = requirements;
  const authorization = authorizationOf(requirements, account.address, at);
  const signature = await account.signTypedData(typedDataOf(requirements, authorization));
  const { from, nonce } = authorization;
  return {
    payload: { signature, authorization },
    payer: from,
    asked: { network, payer: from, nonce },
    goodForSeconds: maxTimeoutSeconds,
  };
}

async function signHedera(requirements: Requirements, { accountId, key }: HederaAccount, at: Date): Promise<Signature> {
  if (!/^0\.0\.\d{1,18}$/.test(accountId)) {
    throw new TypeError(`wallets.hedera.accountId must be like 0.0.1234, not "${accountId}". Nothing was signed.`);
  }
  const transfer = hederaTransfer(requirements, accountId, at);
  const publicKey = key.publicKey.toBytesRaw();
  const signed = await Promise.all(
    hederaNodes.map(async (node) => {
      const body = transferBody(transfer, node);
      return { body, signatures: signatureMap(publicKey, await key.sign(body)) };
    }),
  );
  return {
    payload: { transaction: toBase64(transactionList(signed)) },
    payer: accountId,
    asked: { network: requirements.network, transaction: transactionId(transfer) },
    goodForSeconds: Number(transfer.duration),
  };
}
