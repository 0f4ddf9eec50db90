import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import type { Signature } from "./keys.ts";

/** A private key that signs transaction bodies. */
export interface Signer {
  readonly kind: "ed25519" | "ecdsa";
  /** 32 bytes (ed25519) or 33 (ECDSA, compressed). */
  readonly publicKey: Buffer;
  sign(bodyBytes: Buffer): Signature;
}

/**
 * `ed25519:<32 bytes hex>`, `ecdsa:<32 bytes hex>` or DER hex as the SDKs print it. Raw hex fits both kinds of key and
 * is refused. Throws an Error that never quotes the key.
 */
export function readSigner(text: string): Signer {
  const [, kind = "", hex = ""] = /^(?:(ed25519|ecdsa):)?(?:0x)?([0-9a-fA-F]+)$/.exec(text) ?? [];
  const bytes = Buffer.from(hex, "hex");
  if (hex.length % 2 === 0 && bytes.length > 0) {
    if (bytes.length === 32 && kind === "ed25519") return ed25519Signer(Buffer.concat([ed25519Prefix, bytes]));
    if (bytes.length === 32 && kind === "ecdsa") return ecdsaSigner(bytes);
    if (bytes.length === 32) throw new Error("raw hex fits two kinds of key: write ed25519:<hex> or ecdsa:<hex>");
    if (startsWith(bytes, ed25519Prefix, 48) && kind !== "ecdsa") return ed25519Signer(bytes);
    if (startsWith(bytes, ecdsaPrefix, 50) && kind !== "ed25519") return ecdsaSigner(bytes.subarray(18));
    if (startsWith(bytes, ecdsaSec1Prefix) && kind !== "ed25519") return ecdsaSigner(bytes.subarray(7, 39));
  }
  throw new Error("the private key is neither ed25519:<hex>, ecdsa:<hex> nor DER hex of one of them");
}

function ed25519Signer(der: Buffer): Signer {
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = rawPublicKey(key);
  return {
    kind: "ed25519",
    publicKey,
    sign: (bodyBytes) => ({ kind: "ed25519", key: publicKey, signature: sign(null, bodyBytes, key) }),
  };
}

function ecdsaSigner(secret: Buffer): Signer {
  if (!secp256k1.privateKeyVerify(secret)) throw new Error("the private key is no secp256k1 key");
  const publicKey = Buffer.from(secp256k1.publicKeyCreate(secret, true));
  return {
    kind: "ecdsa",
    publicKey,
    sign: (bodyBytes) => {
      const { signature } = secp256k1.ecdsaSign(keccak_256(bodyBytes), secret);
      return { kind: "ecdsa", key: publicKey, signature: Buffer.from(signature) };
    },
  };
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
}

const startsWith = (bytes: Buffer, prefix: Buffer, length?: number) =>
  bytes.subarray(0, prefix.length).equals(prefix) && (length === undefined || bytes.length === length);

const ed25519Prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const ecdsaPrefix = Buffer.from("3030020100300706052b8104000a04220420", "hex");
const ecdsaSec1Prefix = Buffer.from("30740201010420", "hex");
