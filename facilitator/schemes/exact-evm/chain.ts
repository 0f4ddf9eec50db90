import { type Outcome, type Refusal, refuse } from "../scheme.ts";
import {
  authorizationStateCall,
  authorizationUsedTopic,
  balanceOfCall,
  erc1271Magic,
  isValidSignatureCall,
  nameCall,
  transferCall,
  transferTopic,
  versionCall,
} from "./eip3009.ts";
import { addressWord, type Hex } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";
import { type JsonRpc, RpcError } from "./rpc.ts";

/** Everything the scheme asks an EVM node. Throws RpcUnreachable when the node does not answer. */
export class EvmChain {
  readonly #rpc: JsonRpc;
  readonly #gasLimit: bigint;

  constructor(rpc: JsonRpc, gasLimit: bigint) {
    this.#rpc = rpc;
    this.#gasLimit = gasLimit;
  }

  async chainId(): Promise<number> {
    return Number(await this.#rpc.call("eth_chainId", []));
  }

  async hasCode(address: string): Promise<boolean> {
    return !isEmpty(await this.#rpc.call("eth_getCode", [address, "latest"]));
  }

  /** Runs the transfer as `sender` would, within the gas limit it would have; undefined when it goes through. */
  async simulate(sender: string, payment: EvmPayment, signer: "key" | "contract"): Promise<RpcError | undefined> {
    const data = transferCall(payment.authorization, payment.signature, signer);
    const gas = `0x${this.#gasLimit.toString(16)}`;
    return this.#call({ from: sender, to: payment.asset, data, gas }).then(
      () => undefined,
      (error) => {
        if (error instanceof RpcError) return error;
        throw error;
      },
    );
  }

  /** ERC-1271: does the payer's contract take this signature? Anything but the magic value is no. */
  async walletAccepts(payment: EvmPayment): Promise<boolean> {
    const data = isValidSignatureCall(payment.messageDigest, payment.signature);
    return (await this.#optionalCall({ to: payment.payer, data, gas: "0x30d40" })) === erc1271Magic;
  }

  /** Why a transfer cannot go through, in the words of the reference implementation. */
  async diagnose(payment: EvmPayment, simulation: RpcError): Promise<Refusal> {
    const { asset, authorization, amount, domain } = payment;
    const read = (data: Hex) => this.#optionalCall({ to: asset, data });
    const [code, used, balance, name, version] = await Promise.all([
      this.hasCode(asset),
      read(authorizationStateCall(authorization.from, authorization.nonce)),
      read(balanceOfCall(authorization.from)),
      read(nameCall),
      read(versionCall),
    ]);
    if (!code) return refuse("asset_not_deployed_contract", "There is no contract at the asset's address.");
    if (isEmpty(used)) return refuse("invalid_exact_evm_eip3009_not_supported", "The asset does not support EIP-3009.");
    if (BigInt(used) !== 0n) return this.#refuseSpent(payment);
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

  /** Anybody may submit an authorization: if it was this very payment, it is settled, though not by us. */
  async #refuseSpent(payment: EvmPayment): Promise<Refusal> {
    const { from, nonce } = payment.authorization;
    const spending = await this.spendingOf(payment.asset, from, nonce).catch(() => undefined);
    const outcome = spending && outcomeOf(spending, payment);
    if (outcome?.outcome === "settled") {
      const { transaction } = outcome;
      return { ...refuse("already_settled", `Somebody else submitted this payment in ${transaction}.`), transaction };
    }
    return refuse("invalid_exact_evm_nonce_already_used", "The authorization's nonce is used or cancelled.");
  }

  /** What `owner` holds of a token, base units. */
  async holding(asset: string, owner: string): Promise<bigint> {
    const balance = await this.#call({ to: asset, data: balanceOfCall(owner) });
    return isEmpty(balance) ? 0n : BigInt(balance);
  }

  async isNonceUsed(asset: string, from: Hex, nonce: Hex): Promise<boolean> {
    const used = await this.#call({ to: asset, data: authorizationStateCall(from, nonce) });
    return !isEmpty(used) && BigInt(used) !== 0n;
  }

  /** The transaction that spent an authorization lately, by the token's own event. */
  async spendingOf(asset: string, from: Hex, nonce: Hex): Promise<Receipt | undefined> {
    const { number } = await this.latestBlock();
    const fromBlock = number > spendingBlocksMax ? number - spendingBlocksMax : 0n;
    const topics = [authorizationUsedTopic, `0x${addressWord(from)}`, nonce];
    const filter = { address: asset, topics, fromBlock: `0x${fromBlock.toString(16)}`, toBlock: "latest" };
    const logs = (await this.#rpc.call("eth_getLogs", [filter])) as ReadonlyArray<{ transactionHash: string }>;
    return logs[0] && this.receipt(logs[0].transactionHash);
  }

  async transactionCount(address: string, block: "latest" | "pending"): Promise<bigint> {
    return BigInt((await this.#rpc.call("eth_getTransactionCount", [address, block])) as string);
  }

  async balance(address: string): Promise<bigint> {
    return BigInt((await this.#rpc.call("eth_getBalance", [address, "latest"])) as string);
  }

  async latestBlock(): Promise<Block> {
    const block = (await this.#rpc.call("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
    return {
      number: BigInt(block.number as string),
      timestampSeconds: BigInt(block.timestamp as string),
      baseFeePerGas: BigInt(block.baseFeePerGas ?? "0x0"),
    };
  }

  /** Hands signed bytes to the node. Throws RpcError when it will not have them. */
  async send(raw: Buffer): Promise<void> {
    await this.#rpc.call("eth_sendRawTransaction", [`0x${raw.toString("hex")}`]);
  }

  async receipt(hash: string): Promise<Receipt | undefined> {
    return ((await this.#rpc.call("eth_getTransactionReceipt", [hash])) as Receipt | null) ?? undefined;
  }

  #call(transaction: Record<string, string>): Promise<string> {
    return this.#rpc.call("eth_call", [transaction, "latest"]) as Promise<string>;
  }

  /** "0x" where the contract reverts or is not there. */
  #optionalCall(transaction: Record<string, string>): Promise<string> {
    return this.#call(transaction).catch((error) => {
      if (error instanceof RpcError) return "0x";
      throw error;
    });
  }
}

/** What public nodes search in one question. */
const spendingBlocksMax = 5_000n;

export interface Block {
  readonly number: bigint;
  readonly timestampSeconds: bigint;
  readonly baseFeePerGas: bigint;
}

export interface Receipt {
  readonly transactionHash: string;
  readonly status: string;
  readonly blockNumber: string;
  readonly logs: ReadonlyArray<{ readonly address: string; readonly topics: readonly string[]; readonly data: string }>;
}

/** A mined transaction is a settlement only if the token says, by its event, that the money moved as agreed. */
export function outcomeOf(
  receipt: Receipt,
  payment: { asset: string; payer: string; payTo: string; amount: bigint },
): Outcome {
  const transaction = receipt.transactionHash;
  if (BigInt(receipt.status) !== 1n) {
    const message = "The transaction was mined and reverted; no money moved.";
    const reason = "invalid_transaction_state";
    return { outcome: "failed", reason, message, transaction, retryable: true, charged: true };
  }
  const moved = receipt.logs.some(
    ({ address, topics, data }) =>
      address.toLowerCase() === payment.asset.toLowerCase() &&
      topics[0] === transferTopic &&
      topics[1]?.slice(2) === addressWord(payment.payer) &&
      topics[2]?.slice(2) === addressWord(payment.payTo) &&
      !isEmpty(data) &&
      BigInt(data) === payment.amount,
  );
  if (moved) return { outcome: "settled", transaction };
  const message = "The transaction was mined but the token did not report the agreed transfer.";
  return {
    outcome: "failed",
    reason: "invalid_exact_evm_transfer_event_mismatch",
    message,
    transaction,
    retryable: false,
    charged: true,
  };
}

function isEmpty(value: unknown): value is "0x" {
  return typeof value !== "string" || value === "0x";
}

/** An ABI-encoded string; empty when it is none. */
function decodeText(encoded: string): string {
  const bytes = Buffer.from(encoded.slice(2), "hex");
  if (bytes.length < 64) return "";
  const length = bytes.readUInt32BE(60);
  return bytes.subarray(64, 64 + length).toString("utf8");
}
