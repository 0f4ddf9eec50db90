import { getAddress } from "viem/utils";
import { ConfigError } from "../../../shared/env.ts";
import { FairSemaphore } from "../../../shared/fair-semaphore.ts";
import { v1NameOf } from "../../../shared/networks.ts";
import type { SupportedKind } from "../../../shared/x402.ts";
import { sentStates } from "../../payment-states.ts";
import { feePayerUpkeep } from "../fee-payer-upkeep.ts";
import { NoFeePayerError } from "../fee-payers.ts";
import { ReadCache } from "../read-cache.ts";
import { type BroadcastLog, NetworkAwayError, type Outcome, refuse, type Scheme, type SchemeNeeds } from "../scheme.ts";
import { EvmChain } from "./chain.ts";
import { type CheckNeeds, checkOnChain, checkSignature } from "./check-on-chain.ts";
import { decodePayment } from "./checks.ts";
import type { EvmConfig } from "./config.ts";
import { findSettled } from "./diagnose.ts";
import { transferCall } from "./eip3009.ts";
import type { EvmFeePayer, Sending } from "./fee-payer.ts";
import { EvmFeePayers } from "./fee-payers.ts";
import { findOutcome, outcomeOfRevert, outcomeOfSuccess } from "./find.ts";
import { openToStrangers, sendByAny } from "./least-busy.ts";
import { PayerBalances } from "./payer-balances.ts";
import type { EvmPayment } from "./payload.ts";
import { waitForReceipt } from "./receipts.ts";
import { JsonRpc, RpcError } from "./rpc.ts";
import { SentSearch } from "./search-sent.ts";
import type { RightToSend } from "./sign-batch.ts";
import { feeOf, succeeded } from "./transfers.ts";

/** `exact` on one EVM network: a payer's EIP-3009 authorization, sent and paid for by one of our addresses. */
export function createExactEvm(config: EvmConfig, needs: SchemeNeeds): Scheme<EvmPayment> {
  const rpc = new JsonRpc(config.rpcUrl, config.rpcTimeoutMs);
  const chain = new EvmChain(rpc, config.gasLimit);
  const payers = new EvmFeePayers(config, chain, needs);
  const feePayers = payers.all;
  /**
   * Payments whose payer `check` found to be a contract, so that `submit` need not ask again, with the account as which the
   * contract was asked: to another one it may answer otherwise.
   */
  const fromContracts = new WeakMap<EvmPayment, EvmFeePayer>();
  const assets: ReadonlySet<string> = new Set(config.assets.map((asset) => getAddress(asset)));
  const reads = new ReadCache(payersRemembered);
  const finding = { chain, reads, searches: new FairSemaphore({ total: searchesMax, waitMs: searchWaitMs }) };
  const balances = new PayerBalances(chain, reads);
  const noteBalance = (payment: EvmPayment) => balances.note(payment);
  const sent = new SentSearch({ chain, config });
  const submitting = { chain, config, feePayers, fromContracts, store: needs.store };

  return {
    scheme: "exact",
    network: config.network,
    kinds: kindsOf(config.network),
    feePayers: payers.addresses,
    decode: (request) => decodePayment(request, config),
    findSettled: async (payment) =>
      assets.has(payment.asset) ? orNetworkAway(findSettled(finding, payment)) : undefined,
    checkSignature: (payment) => orNetworkAway(checkSignature(chain, payment)),
    check: (payment, signed) =>
      checkOnChain({ ...finding, config, assets, feePayers, fromContracts, noteBalance }, payment, signed),
    balanceOf: (payment) => balances.of(payment),
    readBalance: ({ asset, payer }, transactions) => orNetworkAway(readBalance(chain, asset, payer, transactions)),
    insufficient: (message) => refuse("invalid_exact_evm_insufficient_balance", message),
    submit: async (payment, claim, deadline, isStranger) =>
      follow(submitting, payment, await send(submitting, payment, { claim, isStranger }), deadline),
    claimAndSubmit: async (payment, claiming, deadline) => {
      const sending = await send(submitting, payment, claiming);
      return claiming.claim ? follow(submitting, payment, sending, deadline) : "unclaimed";
    },
    find: (unfinished) => findOutcome(chain, config, unfinished),
    searchSent: (log, stopping) => sent.search(log, payers.leased, stopping),
    networkFee: async (transaction) => feeOf(await orNetworkAway(chain.receipt(transaction))),
    balances: () => payers.balances,
    feesTooHigh: () => payers.isGasTooDear,
    async start() {
      await verifyConfiguration(chain, config);
      await payers.start();
    },
    upkeep: [
      ...feePayerUpkeep(payers),
      { name: "maintain nonces", everyMs: maintainEveryMs, run: () => payers.maintainNonces() },
      { name: "forget signed bytes of final payments", everyMs: forgetEveryMs, run: () => payers.forgetSignedBytes() },
    ],
    handOver: () => payers.handOver(),
    async stop() {
      await payers.handOver().catch(() => {});
      await rpc.stop();
    },
  };
}

/** What the payer holds, and whether the node that says so has all of these transactions. */
async function readBalance(chain: EvmChain, asset: string, payer: string, transactions: readonly string[]) {
  const receipts = await Promise.all(transactions.map((transaction) => chain.receipt(transaction)));
  const blocks = receipts.map((receipt) => (receipt ? BigInt(receipt.blockNumber) : undefined));
  const { number } = await chain.latestBlock();
  try {
    const balance = await chain.holding(asset, payer, number);
    return { balance, shows: blocks.every((block) => block !== undefined && block <= number) };
  } catch (error) {
    // Nodes behind one address are not equally far.
    if (!(error instanceof RpcError)) throw error;
    return { balance: await chain.holding(asset, payer), shows: false };
  }
}

/** Signs, stores and sends the payment. Throws NoFeePayerError. */
async function send(
  { config, feePayers, fromContracts }: SubmitNeeds,
  payment: EvmPayment,
  right: RightToSend,
): Promise<Sending> {
  const asked = fromContracts.get(payment);
  const data = transferCall(payment.authorization, payment.signature, asked ? "contract" : "key");
  const able = right.isStranger ? openToStrangers(feePayers) : feePayers;
  const sending = await sendByAny(asked ? [asked] : able, right, payment, data);
  if ("empty" in sending) throw new NoFeePayerError(config.network, "empty");
  if ("tooDear" in sending) throw new NoFeePayerError(config.network, "fees too high");
  if ("unsigned" in sending) throw new NoFeePayerError(config.network, "keys away");
  return sending;
}

/** What becomes of a payment that was handed to the node, seen until the deadline. */
async function follow(needs: SubmitNeeds, payment: EvmPayment, sending: Sending, deadline: Date): Promise<Outcome> {
  const { chain, config, store } = needs;
  if ("refused" in sending) return notSent(`The node did not take the transaction: ${sending.refused}`);
  if (!("transaction" in sending)) return notSent("The claim on this payment ran out before it was sent.");
  const ended = async () => {
    const record = await store.lookup(config.network, payment.key);
    return !sentStates.some((state) => state === record?.state);
  };
  const receipt = await waitForReceipt(chain, sending.transaction, config.confirmations, deadline, ended);
  if (receipt && succeeded(receipt)) return outcomeOfSuccess(receipt, payment);
  if (!receipt) return { outcome: "unknown", transaction: sending.transaction };
  const signedTransactions = await store.signedTransactions(config.network, payment.key);
  return outcomeOfRevert(
    chain,
    config,
    { ...payment, transaction: receipt.transactionHash, signedTransactions },
    deadline,
  );
}

interface SubmitNeeds extends Pick<CheckNeeds, "chain" | "config" | "feePayers" | "fromContracts"> {
  readonly store: BroadcastLog;
}

/** A node that answers with an error of its own has not said what it was asked. */
function orNetworkAway<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    throw error instanceof RpcError ? new NetworkAwayError(error.message, { cause: error }) : error;
  });
}

function notSent(message: string): Outcome {
  return {
    outcome: "failed",
    reason: "invalid_exact_evm_transaction_failed",
    message,
    transaction: "",
    retryable: true,
  };
}

/** X6, D1: the node is on the configured chain and every allowed asset is a contract. */
async function verifyConfiguration(chain: EvmChain, config: EvmConfig): Promise<void> {
  const problems: string[] = [];
  try {
    const chainId = await chain.chainId();
    if (!(chainId > 0)) throw new NetworkAwayError("the node does not say which chain it is on");
    if (chainId !== config.chainId) problems.push(`EIP155_${config.chainId}_RPC_URL is a node of chain ${chainId}`);
    for (const asset of config.assets) {
      if (!(await chain.hasCode(asset)))
        problems.push(`EIP155_${config.chainId}_ASSETS: there is no contract at ${asset}`);
    }
  } catch (error) {
    if (error instanceof NetworkAwayError) throw error;
    throw new NetworkAwayError((error as Error).message, { cause: error });
  }
  if (problems.length > 0) throw new ConfigError("facilitator", problems);
}

function kindsOf(network: string): readonly SupportedKind[] {
  const v1Name = v1NameOf(network);
  const v2: SupportedKind = { x402Version: 2, scheme: "exact", network };
  return v1Name === undefined ? [v2] : [v2, { x402Version: 1, scheme: "exact", network: v1Name }];
}

const payersRemembered = 20_000;
/** Anybody can post what others used on the chain; each search is slow, and of the few requests to the node at once (rpc.ts) payments need the rest. */
const searchesMax = 2;
const searchWaitMs = 2_000;
const maintainEveryMs = 2_000;
const forgetEveryMs = 60_000;
