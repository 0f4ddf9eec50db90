import type { FairSemaphore } from "../../../shared/fair-semaphore.ts";
import type { ReadCache } from "../read-cache.ts";
import { type Refusal, refuse } from "../scheme.ts";
import type { EvmChain } from "./chain.ts";
import { authorizationStateCall, balanceOfCall, nameCall, versionCall } from "./eip3009.ts";
import { type Hex, isEmpty } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";
import { type RpcError, RpcUnreachableError } from "./rpc.ts";
import { paysAsAgreed, type Receipt } from "./transfers.ts";

/** Why a transfer cannot go through, in the words of the reference implementation. */
export async function diagnose(needs: FindNeeds, payment: EvmPayment, simulation: RpcError): Promise<Refusal> {
  const { chain } = needs;
  const { asset, authorization, amount, domain } = payment;
  const read = (data: Hex) => chain.read(asset, data);
  const [code, used, balance, name, version] = await Promise.all([
    chain.hasCode(asset),
    read(authorizationStateCall(authorization.from, authorization.nonce)),
    read(balanceOfCall(authorization.from)),
    read(nameCall),
    read(versionCall),
  ]);
  if (!code) return refuse("asset_not_deployed_contract", "There is no contract at the asset's address.");
  if (isEmpty(used)) return refuse("invalid_exact_evm_eip3009_not_supported", "The asset does not support EIP-3009.");
  if (BigInt(used) !== 0n) return refuseSpent(needs, payment);
  if (!isEmpty(name) && decodeText(name) !== domain.name) {
    return refuse(
      "invalid_exact_evm_token_name_mismatch",
      `The token's name is ${decodeText(name)}, extra.name says ${domain.name}.`,
    );
  }
  if (!isEmpty(version) && decodeText(version) !== domain.version) {
    const message = `The token's version is ${decodeText(version)}, extra.version says ${domain.version}.`;
    return refuse("invalid_exact_evm_token_version_mismatch", message);
  }
  if (!isEmpty(balance) && BigInt(balance) < amount) {
    return refuse(
      "invalid_exact_evm_insufficient_balance",
      `The payer holds ${BigInt(balance)} of ${amount} base units.`,
    );
  }
  return refuse("invalid_exact_evm_transaction_simulation_failed", `The transfer would fail: ${simulation.message}`);
}

/** Any account may submit an authorization: if it was this very payment, it is settled, though not by this daemon. */
async function refuseSpent(needs: FindNeeds, payment: EvmPayment): Promise<Refusal> {
  const { asset, key } = payment;
  const { from, nonce } = payment.authorization;
  const spending = await needs.reads.read(`lately spending ${key}`, latelyKeptMs, () =>
    searched(needs, payment, () => needs.chain.spendingOf(asset, from, nonce)),
  );
  return refusalBySpending(payment, spending);
}

/** Finds a transaction by its event in a turn of its payer's. Throws RpcUnreachableError when too many are looked for. */
async function searched(
  { searches }: FindNeeds,
  { payer }: EvmPayment,
  search: () => Promise<Receipt | undefined>,
): Promise<Receipt | undefined> {
  const release = await searches.acquire({ account: payer, agent: payer }).catch(() => {
    throw new RpcUnreachableError("too many used authorizations are looked for");
  });
  return search().finally(release);
}

/**
 * The refusal of a payment whose time is over and whose nonce was used; undefined when it never was. Only what used the
 * nonce is remembered: a payer can sign other payments with it, and each is judged by its own terms. Throws
 * RpcUnreachableError when the transaction that used it lately does not show yet, or too many are looked for.
 */
export async function findSettled(needs: FindNeeds, payment: EvmPayment): Promise<Refusal | undefined> {
  const { chain, reads } = needs;
  const { asset, key } = payment;
  const { from, nonce } = payment.authorization;
  const isUsed = await reads.read(`used ${key}`, 0, async () => {
    const { number } = await chain.latestBlock();
    return chain.isNonceUsed(asset, from, nonce, number);
  });
  if (!isUsed) return undefined;
  const mayShowYet = (spending: Receipt | undefined) =>
    spending === undefined && Date.now() < payment.expiresAt.getTime() + logsLateMs;
  const spending = await reads.read(`spending ${key}`, spendingKeptMs, async () => {
    const search = () => chain.spendingOf(asset, from, nonce, new Date(0), lateSearchesMax);
    const found = await searched(needs, payment, search);
    if (mayShowYet(found)) throw notShown();
    return found;
  });
  if (mayShowYet(spending)) throw notShown();
  return refusalBySpending(payment, spending);
}

export interface FindNeeds {
  readonly chain: EvmChain;
  readonly reads: ReadCache;
  /** How many searches of the chain's events there are at once. */
  readonly searches: FairSemaphore;
}

const notShown = () => new RpcUnreachableError("the node does not show the transaction that used an authorization");

function refusalBySpending(payment: EvmPayment, spending: Receipt | undefined): Refusal {
  if (spending && paysAsAgreed(spending, payment)) {
    const transaction = spending.transactionHash;
    return { ...refuse("already_settled", `This payment was settled in ${transaction}.`), transaction };
  }
  return refuse("invalid_exact_evm_nonce_already_used", "The authorization's nonce is used or cancelled.");
}

/** For a caller who asks about a payment that is over: on Base, the blocks of a day. */
const lateSearchesMax = 10;
const logsLateMs = 600_000;
/** Finding a transaction by its event is dear, and every payer who used up a nonce can ask about it. */
const spendingKeptMs = 10_000;
/** What was used just now shows soon. */
const latelyKeptMs = 1_000;

/** An ABI-encoded string; empty when it is none. */
function decodeText(encoded: string): string {
  const bytes = Buffer.from(encoded.slice(2), "hex");
  if (bytes.length < 64) return "";
  const length = bytes.readUInt32BE(60);
  return bytes.subarray(64, 64 + length).toString("utf8");
}
