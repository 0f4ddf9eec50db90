import { getAddress } from "viem/utils";
import { ConfigError } from "../../../shared/env.ts";
import type { Log } from "../../../shared/log.ts";
import { v1NameOf } from "../../../shared/networks.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { SupportedKind } from "../../../shared/x402.ts";
import type { EvmConfig } from "../../config.ts";
import { FeePayersEmpty } from "../../fee-payers/empty.ts";
import { EvmFeePayer, type Sending } from "../../fee-payers/evm.ts";
import type { SettlementStore } from "../../settlements/store.ts";
import { Reads } from "../reads.ts";
import {
  type Claim,
  NetworkAway,
  type Outcome,
  type PaymentRequest,
  type Refusal,
  refuse,
  type Scheme,
} from "../scheme.ts";
import { EvmChain } from "./chain.ts";
import { checkWindow, decodePayment } from "./checks.ts";
import { transferCall } from "./eip3009.ts";
import { findOutcome, outcomeOfRevert, outcomeOfSuccess } from "./find.ts";
import type { Hex } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";
import { waitForReceipt } from "./receipts.ts";
import { JsonRpc, RpcError } from "./rpc.ts";
import { succeeded } from "./transfers.ts";

/** `exact` on one EVM network: a payer's EIP-3009 authorization, sent and paid for by one of our addresses. */
export function createExactEvm(
  config: EvmConfig,
  needs: { store: SettlementStore; db: Database; log: Log },
): Scheme<EvmPayment> {
  const rpc = new JsonRpc(config.rpcUrl, config.rpcTimeoutMs);
  const chain = new EvmChain(rpc, config.gasLimit);
  const feePayers = config.signers.map((key) => new EvmFeePayer(key.reveal(), config, { chain, ...needs }));
  /**
   * Payments whose payer `check` found to be a contract, so that `submit` need not ask again, with the account as which the
   * contract was asked: to another one it may answer otherwise.
   */
  const fromContracts = new WeakMap<EvmPayment, EvmFeePayer>();
  const assets: ReadonlySet<string> = new Set(config.assets.map((asset) => getAddress(asset)));
  const reads = new Reads(payersRemembered);
  const balances = new WeakMap<EvmPayment, bigint>();
  const timers: NodeJS.Timeout[] = [];
  /** What the payer holds beside this payment may be a moment old: what left it through us meanwhile is counted. */
  const noteBalance = async (payment: EvmPayment) => {
    const { asset, payer } = payment;
    balances.set(payment, await reads.read(`${asset} ${payer}`, balanceAgeMaxMs, () => chain.holding(asset, payer)));
  };

  return {
    scheme: "exact",
    network: config.network,
    kinds: kindsOf(config.network),
    feePayers: feePayers.map(({ address }) => address),
    decode: (request: PaymentRequest) => decodePayment(request, config),
    checkSignature: (payment) => checkSignature(chain, payment),
    isSignedForNow: (payment) =>
      payment.signedByKey && assets.has(payment.asset) && checkWindow(payment, new Date()) === undefined,
    check: (payment) => check({ chain, config, assets, feePayers, fromContracts, noteBalance }, payment),
    balanceOf: (payment) => balances.get(payment) ?? 0n,
    async readBalance({ asset, payer }, transactions) {
      const receipts = await Promise.all(transactions.map((transaction) => chain.receipt(transaction)));
      return { balance: await chain.holding(asset, payer), shows: receipts.every((receipt) => receipt !== undefined) };
    },
    insufficient: (message) => refuse("invalid_exact_evm_insufficient_balance", message),
    async submit(payment, claim, deadline) {
      const asked = fromContracts.get(payment);
      const data = transferCall(payment.authorization, payment.signature, asked ? "contract" : "key");
      const sending = await sendByAny(asked ? [asked] : feePayers, claim, payment, data);
      if ("empty" in sending) throw new FeePayersEmpty(config.network);
      if ("lost" in sending) return notSent("The claim on this payment ran out before it was sent.");
      if ("refused" in sending) return notSent(`The node did not take the transaction: ${sending.refused}`);
      const ended = async () => (await needs.store.lookup(config.network, payment.key))?.state !== "broadcast";
      const receipt = await waitForReceipt(chain, sending.transaction, config.confirmations, deadline, ended);
      if (receipt && succeeded(receipt)) return outcomeOfSuccess(receipt, payment);
      const unknown: Outcome = { outcome: "unknown", transaction: sending.transaction };
      if (!receipt) return unknown;
      return outcomeOfRevert(chain, config, { ...payment, transaction: receipt.transactionHash }, deadline);
    },
    find: (unfinished) => findOutcome(chain, config, unfinished),
    balances: () => feePayers.map(({ balance }) => balance),
    async start() {
      await verifyConfiguration(chain, config);
      await Promise.all(feePayers.map((feePayer) => feePayer.synchronizeNonce()));
      const readBalances = () => Promise.all(feePayers.map((feePayer) => feePayer.readBalance()));
      await readBalances();
      timers.push(
        setInterval(readBalances, balanceEveryMs),
        setInterval(() => feePayers.map((one) => one.upkeep()), upkeepEveryMs),
      );
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await rpc.stop();
    },
  };
}

/**
 * Rules E4, E5, E7, E8, E10, E11. What the chain says about a payment is read after the request came and never
 * remembered. A node that does not answer is a refusal that says so.
 */
async function check(needs: CheckNeeds, payment: EvmPayment): Promise<Refusal | undefined> {
  const { chain, config, assets, feePayers, fromContracts, noteBalance } = needs;
  const late = checkWindow(payment, new Date());
  if (late) return late;
  try {
    if (!assets.has(payment.asset)) return await refuseAsset(chain, config, payment.asset);
    const feePayer = leastBusy(feePayers);
    const sender = { address: feePayer.address, fees: await feePayer.usualFees() };
    // A key's signature is the usual case: whether the payer is a contract is asked together with the simulation.
    const [isContract, simulation] = await Promise.all([
      chain.hasCode(payment.payer),
      payment.signedByKey ? chain.simulate(sender, payment, "key") : undefined,
      noteBalance(payment),
    ]);
    if (isContract) {
      fromContracts.set(payment, feePayer);
      return await checkWallet(chain, sender, payment);
    }
    if (!payment.signedByKey) return refuseSignature(payment);
    return simulation && (await chain.diagnose(payment, simulation));
  } catch (error) {
    if (error instanceof RpcError)
      return refuse("unexpected_verify_error", `The node refused to answer: ${error.message}`);
    return refuse("unexpected_verify_error", "The chain cannot be asked at the moment; try again.");
  }
}

interface CheckNeeds {
  readonly chain: EvmChain;
  readonly config: EvmConfig;
  /** With checksums. */
  readonly assets: ReadonlySet<string>;
  readonly feePayers: readonly EvmFeePayer[];
  readonly fromContracts: WeakMap<EvmPayment, EvmFeePayer>;
  readonly noteBalance: (payment: EvmPayment) => Promise<void>;
}

type Sender = Parameters<EvmChain["simulate"]>[0];

/** Rule E5. A key's own signature is proof without the chain, also where its account has code. */
async function checkSignature(chain: EvmChain, payment: EvmPayment): Promise<Refusal | undefined> {
  if (payment.signedByKey) return undefined;
  if (!(await chain.hasCode(payment.payer))) return refuseSignature(payment);
  return (await chain.walletAccepts(payment)) ? undefined : walletRefuses;
}

/** A payer with code (contract wallet, EIP-7702) is asked by ERC-1271 alone; its key's signature means nothing. */
async function checkWallet(chain: EvmChain, sender: Sender, payment: EvmPayment): Promise<Refusal | undefined> {
  const [accepts, simulation] = await Promise.all([
    chain.walletAccepts(payment),
    chain.simulate(sender, payment, "contract"),
  ]);
  if (!accepts) return walletRefuses;
  return simulation && (await chain.diagnose(payment, simulation));
}

/** ERC-6492 wraps a call to a factory of the payer's choice, which would be made with our account. */
function refuseSignature({ signature }: EvmPayment): Refusal {
  const erc6492Suffix = "6492".repeat(16);
  if (signature.length > 32 && signature.toString("hex", signature.length - 32) === erc6492Suffix) {
    return refuse("eip6492_factory_not_allowed", "Signatures of wallets that are not deployed yet are not accepted.");
  }
  return refuse("invalid_exact_evm_signature", "The signature is not the payer's for this authorization.");
}

const walletRefuses = refuse(
  "invalid_exact_evm_signature",
  "The payer's wallet contract does not accept the signature.",
);

async function refuseAsset(chain: EvmChain, config: EvmConfig, asset: string): Promise<Refusal> {
  if (!(await chain.hasCode(asset))) {
    return refuse("asset_not_deployed_contract", "There is no contract at the asset's address.");
  }
  return refuse(
    "invalid_asset",
    `This asset is not settled here; settled on ${config.network} is ${config.assets.join(", ")}.`,
  );
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
    if (!(chainId > 0)) throw new NetworkAway("the node does not say which chain it is on");
    if (chainId !== config.chainId) problems.push(`EIP155_${config.chainId}_RPC_URL is a node of chain ${chainId}`);
    for (const asset of config.assets) {
      if (!(await chain.hasCode(asset)))
        problems.push(`EIP155_${config.chainId}_ASSETS: there is no contract at ${asset}`);
    }
  } catch (error) {
    if (error instanceof NetworkAway) throw error;
    throw new NetworkAway((error as Error).message, { cause: error });
  }
  if (problems.length > 0) throw new ConfigError("facilitator", problems);
}

function kindsOf(network: string): readonly SupportedKind[] {
  const v1Name = v1NameOf(network);
  const v2: SupportedKind = { x402Version: 2, scheme: "exact", network };
  return v1Name === undefined ? [v2] : [v2, { x402Version: 1, scheme: "exact", network: v1Name }];
}

/** One after the other, for as long as they turn out to have no money for gas. */
async function sendByAny(
  feePayers: readonly EvmFeePayer[],
  claim: Claim,
  payment: EvmPayment,
  data: Hex,
): Promise<Sending> {
  for (const _ of feePayers) {
    const sending = await leastBusy(feePayers).send(claim, payment, data);
    if (!("empty" in sending)) return sending;
  }
  return { empty: true };
}

function leastBusy(feePayers: readonly EvmFeePayer[]): EvmFeePayer {
  const able = feePayers.filter(({ balance }) => !balance.empty);
  return (able.length > 0 ? able : feePayers).toSorted((a, b) => a.waiting - b.waiting)[0] as EvmFeePayer;
}

const balanceAgeMaxMs = 1_000;
const payersRemembered = 20_000;
const balanceEveryMs = 2_500;
const upkeepEveryMs = 2_000;
