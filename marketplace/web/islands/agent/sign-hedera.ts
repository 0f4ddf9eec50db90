import { type Accepted, bytesOf } from "./quote.ts";
import type { Signed } from "./sign.ts";
import type { Provider } from "./wallets.ts";

/** The wallet's account on this network; undefined for a wallet that signs for none there. */
export async function hederaAccount(provider: Provider, network: string): Promise<string | undefined> {
  const accounts = await provider.request({ method: "hedera_accounts" }).catch(() => []);
  if (!Array.isArray(accounts)) return undefined;
  const account = accounts.map(String).find((one) => one.startsWith(`${network}:`));
  return account?.slice(network.length + 1);
}

/**
 * Has the wallet sign a transfer of exactly this amount to this creator, on an id of the facilitator's account, which pays the
 * network's fee. Messages are those of the Hedera API (hapi/services), written by hand.
 */
export async function signHedera(provider: Provider, accepted: Accepted, at: Date): Promise<Signed> {
  const payer = await hederaAccount(provider, accepted.network);
  if (payer === undefined) throw new Error("This wallet has no account on that network.");
  const feePayer = String(accepted.extra.feePayer);
  const seconds = BigInt(Math.floor(at.getTime() / 1_000) - startEarlierSeconds);
  const nanos = BigInt(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000_000);
  const duration = BigInt(Math.min(180, accepted.maxTimeoutSeconds));
  const body = transferBody({ accepted, payer, feePayer, seconds, nanos, duration });
  const { signatureMap } = (await provider.request({
    method: "hedera_signTransaction",
    params: [{ signerAccountId: `${accepted.network}:${payer}`, transactionBody: base64(body) }],
  })) as { signatureMap: string };
  // TransactionList.1 → Transaction.5 → SignedTransaction.1 and .2
  const signed = [...bytesField(1, body), ...bytesField(2, [...bytesOf(signatureMap)])];
  return {
    payload: { transaction: base64(bytesField(1, bytesField(5, signed))) },
    asked: { network: accepted.network, transaction: `${feePayer}@${seconds}.${String(nanos).padStart(9, "0")}` },
    endsAt: Number(seconds + duration) * 1_000,
  };
}

interface Transfer {
  readonly accepted: Accepted;
  readonly payer: string;
  readonly feePayer: string;
  readonly seconds: bigint;
  readonly nanos: bigint;
  readonly duration: bigint;
}

/** TransactionBody: .1 id, .2 node, .3 fee, .4 duration, .14 cryptoTransfer → .2 tokenTransfers → .1 token, .2 rows. */
function transferBody({ accepted, payer, feePayer, seconds, nanos, duration }: Transfer): number[] {
  const amount = BigInt(accepted.amount);
  const row = (account: string, moved: bigint) => [...bytesField(1, entity(account)), ...numberField(2, zigzag(moved))];
  const transfers = [
    ...bytesField(1, entity(accepted.asset)),
    ...bytesField(2, row(payer, -amount)),
    ...bytesField(2, row(accepted.payTo, amount)),
  ];
  const start = [...numberField(1, seconds), ...numberField(2, nanos)];
  return [
    ...bytesField(1, [...bytesField(1, start), ...bytesField(2, entity(feePayer))]),
    ...bytesField(2, entity(nodes[Math.floor(Math.random() * nodes.length)]!)),
    ...numberField(3, feeMaxTinybars),
    ...bytesField(4, numberField(1, duration)),
    ...bytesField(14, bytesField(2, transfers)),
  ];
}

/** A wallet signs one body, so the transaction goes to one node; every network has these. */
const nodes = ["0.0.3", "0.0.4", "0.0.5"];
/** The facilitator pays it, and refuses what is dear. */
const feeMaxTinybars = 200_000_000n;
/** Clocks of nodes may be behind. */
const startEarlierSeconds = 5;

/** AccountID and TokenID have their number in the same place. */
const entity = (id: string) => numberField(3, BigInt(id.split(".")[2] ?? "0"));
const zigzag = (value: bigint) => (value < 0n ? -value * 2n - 1n : value * 2n);

function numberField(number: number, value: bigint): number[] {
  return value === 0n ? [] : [...varint(BigInt(number * 8)), ...varint(value)];
}

function bytesField(number: number, bytes: readonly number[]): number[] {
  return [...varint(BigInt(number * 8 + 2)), ...varint(BigInt(bytes.length)), ...bytes];
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

function base64(bytes: readonly number[]): string {
  return btoa(String.fromCharCode(...bytes));
}
