import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import type { TransactionSerializableEIP1559 } from "viem";
import { getAddress, serializeTransaction } from "viem/utils";
import { ConfigError } from "../../../shared/env.ts";
import { type EcdsaSignature, KeyAwayError, type SigningKey } from "../../signing/signing-key.ts";
import { addressOf } from "./eip3009.ts";
import type { Hex } from "./hex.ts";

/** One fee payer's key, and the transactions that it signs (EIP-1559). */
export class EvmSigner {
  readonly address: Hex;
  readonly #key: SigningKey;
  #isOwn: boolean | undefined;

  constructor(address: Hex, key: SigningKey) {
    this.address = address;
    this.#key = key;
  }

  /** Whether it can be asked and is this address'. One in a KMS is not there until it was compared. */
  get isThere(): boolean {
    return this.#key.isThere && (this.#isOwn ?? this.isHere);
  }

  /** Whether the key is in this process. */
  get isHere(): boolean {
    return this.#key.signAtOnce !== undefined;
  }

  /** Throws KeyAwayError, and ConfigError when the key is another address'. */
  async check(): Promise<void> {
    if (this.#isOwn) return;
    const publicKey = secp256k1.publicKeyConvert(await this.#key.publicKey(), false);
    const address = getAddress(addressOf(publicKey));
    this.#isOwn = address === this.address;
    if (this.#isOwn) return;
    throw new ConfigError("facilitator", [`the key of fee payer ${this.address} is the key of ${address}`]);
  }

  lookAgain(): Promise<void> {
    return this.#key.lookAgain();
  }

  /** Throws KeyAwayError, also for a key that was away when it was to be checked and is another address'. */
  async sign(fields: TransactionSerializableEIP1559): Promise<SignedTransaction> {
    await this.check().catch((error: Error) => {
      throw new KeyAwayError(error.message, { cause: error });
    });
    return signed(fields, await this.#key.sign(digestOf(fields)));
  }

  /** Undefined where the key is elsewhere. */
  signAtOnce(fields: TransactionSerializableEIP1559): SignedTransaction | undefined {
    const signature = this.#key.signAtOnce?.(digestOf(fields));
    return signature && signed(fields, signature);
  }
}

export interface SignedTransaction {
  readonly raw: Buffer;
  readonly hash: Hex;
}

function digestOf(fields: TransactionSerializableEIP1559): Uint8Array {
  return keccak_256(Buffer.from(serializeTransaction(fields).slice(2), "hex"));
}

function signed(fields: TransactionSerializableEIP1559, { compact, recovery }: EcdsaSignature): SignedTransaction {
  const part = (start: number): Hex => `0x${Buffer.from(compact.subarray(start, start + 32)).toString("hex")}`;
  const parts = { r: part(0), s: part(32), yParity: recovery };
  const raw = Buffer.from(serializeTransaction(fields, parts).slice(2), "hex");
  return { raw, hash: transactionHash(raw) };
}

export function transactionHash(raw: Uint8Array): Hex {
  return `0x${Buffer.from(keccak_256(raw)).toString("hex")}`;
}
