import { keccak_256 } from "@noble/hashes/sha3.js";
import { ed25519KeyPair, signEd25519 } from "../../../shared/hedera/ed25519.ts";
import { localKey } from "../../signing/local-key.ts";
import type { SigningKey } from "../../signing/signing-key.ts";
import type { Signature } from "./keys.ts";

/** A private key that signs transaction bodies. */
export interface Signer {
  readonly kind: "ed25519" | "ecdsa";
  /** 32 bytes (ed25519) or 33 (ECDSA, compressed). Throws KeyAwayError. */
  publicKey(): Promise<Buffer>;
  /** Throws KeyAwayError. */
  sign(bodyBytes: Buffer): Promise<Signature>;
  readonly isThere: boolean;
  lookAgain(): Promise<void>;
}

/**
 * `ed25519:<32 bytes hex>`, `ecdsa:<32 bytes hex>` or DER hex as the SDKs print it. Raw hex fits both kinds of key and
 * is refused. Throws an Error that never quotes the key.
 */
export function readSigner(text: string): Signer {
  const [, kind = "", hex = ""] = /^(?:(ed25519|ecdsa):)?(?:0x)?([0-9a-fA-F]+)$/.exec(text) ?? [];
  const bytes = Buffer.from(hex, "hex");
  if (hex.length % 2 === 0 && bytes.length > 0) {
    if (bytes.length === 32 && kind === "ed25519") return ed25519Signer(bytes);
    if (bytes.length === 32 && kind === "ecdsa") return ecdsaSigner(localKey(bytes));
    if (bytes.length === 32) throw new Error("raw hex fits two kinds of key: write ed25519:<hex> or ecdsa:<hex>");
    if (startsWith(bytes, ed25519Prefix, 48) && kind !== "ecdsa") return ed25519Signer(bytes.subarray(16));
    if (startsWith(bytes, ecdsaPrefix, 50) && kind !== "ed25519") return ecdsaSigner(localKey(bytes.subarray(18)));
    if (startsWith(bytes, ecdsaSec1Prefix) && kind !== "ed25519") return ecdsaSigner(localKey(bytes.subarray(7, 39)));
  }
  throw new Error("the private key is neither ed25519:<hex>, ecdsa:<hex> nor DER hex of one of them");
}

function ed25519Signer(seed: Buffer): Signer {
  const keys = ed25519KeyPair(seed);
  const { publicKey } = keys;
  return {
    kind: "ed25519",
    publicKey: async () => publicKey,
    sign: async (bodyBytes) => ({ kind: "ed25519", key: publicKey, signature: signEd25519(bodyBytes, keys) }),
    isThere: true,
    lookAgain: async () => {},
  };
}

export function ecdsaSigner(key: SigningKey): Signer {
  return {
    kind: "ecdsa",
    publicKey: () => key.publicKey(),
    sign: async (bodyBytes) => {
      const { compact } = await key.sign(keccak_256(bodyBytes));
      return { kind: "ecdsa", key: await key.publicKey(), signature: Buffer.from(compact) };
    },
    get isThere() {
      return key.isThere;
    },
    lookAgain: () => key.lookAgain(),
  };
}

const startsWith = (bytes: Buffer, prefix: Buffer, length?: number) =>
  bytes.subarray(0, prefix.length).equals(prefix) && (length === undefined || bytes.length === length);

const ed25519Prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const ecdsaPrefix = Buffer.from("3030020100300706052b8104000a04220420", "hex");
const ecdsaSec1Prefix = Buffer.from("30740201010420", "hex");
