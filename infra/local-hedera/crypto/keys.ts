import { proto } from "@hiero-ledger/proto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";

/** A signing rule: one key, or a list of which `threshold` must sign. `encoded` is the protobuf it came from. */
export type Key = { encoded: Buffer } & KeyRule;

export type KeyRule =
  | { kind: "ed25519" | "ecdsa"; raw: Buffer; hex: string }
  | { kind: "list"; threshold: number; keys: Key[] };

/** Undefined when the key is empty, malformed, or of a kind nothing can sign with here (contracts, RSA). */
export function keyFromProto(key: proto.IKey | null | undefined, depth = 0): Key | undefined {
  if (!key || depth > keyDepthMax) return undefined;
  const encoded = Buffer.from(proto.Key.encode(key).finish());
  if (key.ed25519?.length === 32) return { encoded, ...single("ed25519", key.ed25519) };
  const ecdsa = key.ECDSASecp256k1;
  if (ecdsa?.length === 33 && secp256k1.publicKeyVerify(ecdsa)) {
    return { encoded, ...single("ecdsa", ecdsa) };
  }
  const list = key.thresholdKey?.keys ?? key.keyList;
  if (!list?.keys?.length) return undefined;
  const keys = list.keys.map((child) => keyFromProto(child, depth + 1)).filter((child) => child !== undefined);
  const threshold = key.thresholdKey ? (key.thresholdKey.threshold ?? 0) : keys.length;
  if (keys.length !== list.keys.length || threshold < 1 || threshold > keys.length) return undefined;
  return { encoded, kind: "list", threshold, keys };
}

export function keyFromBytes(encoded: Uint8Array): Key | undefined {
  return keyFromProto(proto.Key.decode(encoded));
}

export function keyToProto(key: Key): proto.IKey {
  return proto.Key.decode(key.encoded);
}

/** The 20-byte EVM address of a compressed secp256k1 public key. */
export function evmAddressOf(compressed: Uint8Array): Buffer {
  return Buffer.from(keccak_256(secp256k1.publicKeyConvert(compressed, false).subarray(1)).subarray(12));
}

export function verifyEcdsa(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return secp256k1.ecdsaVerify(signature, digest, publicKey);
  } catch {
    return false;
  }
}

function single(kind: "ed25519" | "ecdsa", bytes: Uint8Array): KeyRule {
  const raw = Buffer.from(bytes);
  return { kind, raw, hex: raw.toString("hex") };
}

const keyDepthMax = 15;
