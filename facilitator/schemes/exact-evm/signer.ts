import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import type { TransactionSerializableEIP1559 } from "viem";
import { getAddress, serializeTransaction } from "viem/utils";
import { addressOf } from "./eip3009.ts";
import type { Hex } from "./hex.ts";

/** One private key, and the transactions it signs (EIP-1559). */
export class EvmSigner {
  readonly address: Hex;
  readonly #key: Uint8Array;

  constructor(privateKey: string) {
    this.#key = Buffer.from(privateKey.slice(2), "hex");
    this.address = getAddress(addressOf(secp256k1.publicKeyCreate(this.#key, false)));
  }

  sign(fields: TransactionSerializableEIP1559): SignedTransaction {
    const unsigned = Buffer.from(serializeTransaction(fields).slice(2), "hex");
    const { signature, recid } = secp256k1.ecdsaSign(keccak_256(unsigned), this.#key);
    const part = (start: number): Hex => `0x${Buffer.from(signature.subarray(start, start + 32)).toString("hex")}`;
    const raw = Buffer.from(serializeTransaction(fields, { r: part(0), s: part(32), yParity: recid }).slice(2), "hex");
    return { raw, hash: transactionHash(raw) };
  }
}

export interface SignedTransaction {
  readonly raw: Buffer;
  readonly hash: Hex;
}

export function transactionHash(raw: Uint8Array): Hex {
  return `0x${Buffer.from(keccak_256(raw)).toString("hex")}`;
}
