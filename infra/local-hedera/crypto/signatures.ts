import type { proto } from "@hiero-ledger/proto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { verifyEd25519 } from "../../../shared/hedera/ed25519.ts";
import { evmAddressOf, type Key, verifyEcdsa } from "./keys.ts";

/** The signatures one transaction carries, each verified at most once and only when some key asks for it. */
export class Signatures {
  readonly #bodyBytes: Uint8Array;
  readonly #pairs: proto.ISignaturePair[];
  readonly #verified = new Map<string, boolean>();
  #digest: Uint8Array | undefined;

  constructor(bodyBytes: Uint8Array, pairs: proto.ISignaturePair[]) {
    this.#bodyBytes = bodyBytes;
    this.#pairs = pairs;
  }

  get count(): number {
    return this.#pairs.length;
  }

  satisfies(key: Key): boolean {
    if (key.kind === "list") {
      let signed = 0;
      for (const child of key.keys) if (this.satisfies(child) && ++signed >= key.threshold) return true;
      return false;
    }
    let valid = this.#verified.get(key.hex);
    if (valid === undefined) {
      valid = this.#verify(key);
      this.#verified.set(key.hex, valid);
    }
    return valid;
  }

  /** The full public key that signed and whose EVM address is `address`: how a hollow account gets its key. */
  signerWithAddress(address: Buffer): Uint8Array | undefined {
    for (const { pubKeyPrefix, ECDSASecp256k1: signature } of this.#pairs) {
      if (pubKeyPrefix?.length !== 33 || signature?.length !== 64) continue;
      if (!verifyEcdsa(signature, this.#bodyDigest(), pubKeyPrefix)) continue;
      if (evmAddressOf(pubKeyPrefix).equals(address)) return pubKeyPrefix;
    }
    return undefined;
  }

  /** True when one prefix begins another, so a key could match two pairs: KEY_PREFIX_MISMATCH. */
  hasAmbiguousPrefixes(): boolean {
    if (this.#pairs.length < 2) return false;
    const prefixes = this.#pairs.map((pair) => Buffer.from(pair.pubKeyPrefix ?? []).toString("hex")).sort();
    return prefixes.some((prefix, index) => index > 0 && prefix.startsWith(prefixes[index - 1]!));
  }

  #verify(key: Exclude<Key, { kind: "list" }>): boolean {
    const pair = this.#pairs.find(({ pubKeyPrefix }) => beginsWith(key.raw, pubKeyPrefix ?? noBytes));
    if (key.kind === "ed25519") {
      return verifyEd25519(pair?.ed25519 ?? noBytes, this.#bodyBytes, key.raw);
    }
    const signature = pair?.ECDSASecp256k1;
    return signature?.length === 64 && verifyEcdsa(signature, this.#bodyDigest(), key.raw);
  }

  #bodyDigest(): Uint8Array {
    this.#digest ??= keccak_256(this.#bodyBytes);
    return this.#digest;
  }
}

const beginsWith = (raw: Buffer, prefix: Uint8Array): boolean =>
  prefix.length <= raw.length && raw.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;

const noBytes = new Uint8Array();
