import { setImmediate } from "node:timers/promises";
import { proto } from "@hiero-ledger/proto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import { verifyEd25519 } from "../../../shared/hedera/ed25519.ts";
import type { SignaturePair, SignedBody } from "./payload.ts";

/** The key of an account: a single key, or a threshold of several. A key that cannot sign here (a contract) is unusable. */
export type Key =
  | { readonly kind: "ed25519" | "ecdsa"; readonly raw: Buffer }
  /** A threshold of none, or of more keys than there are, is never reached. */
  | { readonly kind: "threshold"; readonly threshold: number; readonly keys: readonly Key[] }
  | { readonly kind: "unusable" };

/** A signature and the whole public key it was made with. */
export interface Signature {
  readonly kind: "ed25519" | "ecdsa";
  readonly key: Buffer;
  /** 64 bytes; for ECDSA r and s, s in its lower half. */
  readonly signature: Buffer;
}

/** A body as it would be sent: only the signatures the payer's key needs. */
export interface Sendable {
  readonly node: string;
  readonly bytes: Buffer;
  readonly signatures: readonly Signature[];
}

/** A key as the mirror's REST interface gives it; null is an account without one. Never throws. */
export function readMirrorKey(given: unknown): Key {
  const { _type: type, key: hex } = (given ?? {}) as { _type?: unknown; key?: unknown };
  if (typeof hex !== "string" || hex.length > 2 * encodedBytesMax) return unusable;
  const raw = Buffer.from(hex.replace(/^0x/, ""), "hex");
  if (type === "ED25519") return ed25519Key(raw);
  if (type === "ECDSA_SECP256K1") return ecdsaKey(raw);
  if (type !== "ProtobufEncoded") return unusable;
  try {
    return readProtoKey(proto.Key.decode(raw), { keysLeft: keysMax });
  } catch {
    return unusable;
  }
}

function ed25519Key(raw: Buffer): Key {
  return raw.length === 32 ? { kind: "ed25519", raw } : unusable;
}

function ecdsaKey(raw: Buffer): Key {
  return raw.length === 33 && secp256k1.publicKeyVerify(raw) ? { kind: "ecdsa", raw } : unusable;
}

/**
 * The signatures of `body` that satisfy `key`, and no others; undefined when they do not. A key matches the pair with
 * the longest fitting prefix, so that no payload makes one key cost more than one verification. A pair is one key's: where
 * many keys begin with its prefix, not all of them are tried.
 */
export async function signaturesFor(key: Key, body: SignedBody): Promise<readonly Signature[] | undefined> {
  const verificationsLeft = verificationsSpare + 2 * body.signatures.length;
  const found = await collect(key, { body, digest: undefined, verificationsLeft });
  return found && [...new Map(found.map((signature) => [signature.key.toString("hex"), signature])).values()];
}

/** What those who made `signatures` satisfy together, and nobody with fewer keys. */
export function theseKeys(signatures: readonly Signature[]): Key {
  const keys = signatures.map(({ kind, key }): Key => ({ kind, raw: key }));
  return keys.length === 1 ? (keys[0] as Key) : { kind: "threshold", threshold: keys.length, keys };
}

/** Whether `body` carries a signature of each of these keys, which is not verified. */
export function namesSigners(body: SignedBody, signatures: readonly Signature[]): boolean {
  return signatures.every(({ kind, key }) => pairFor(key, body.signatures)?.[kind]?.length === 64);
}

async function collect(key: Key, signed: Signed): Promise<readonly Signature[] | undefined> {
  switch (key.kind) {
    case "unusable":
      return undefined;
    case "threshold": {
      const found: Signature[] = [];
      let satisfied = 0;
      for (const [index, child] of key.keys.entries()) {
        if (satisfied + key.keys.length - index < key.threshold) return undefined;
        // A list may have many, and all else that waits gets its turn between two of them.
        await setImmediate();
        const signatures = await collect(child, signed);
        if (signatures === undefined) continue;
        found.push(...signatures);
        satisfied += 1;
        if (satisfied === key.threshold) return found;
      }
      return undefined;
    }
    case "ed25519": {
      const signature = pairFor(key.raw, signed.body.signatures)?.ed25519;
      if (signature?.length !== 64 || !mayVerify(signed)) return undefined;
      if (!verifyEd25519(signature, signed.body.bytes, key.raw)) return undefined;
      return [{ kind: "ed25519", key: key.raw, signature }];
    }
    case "ecdsa": {
      const given = pairFor(key.raw, signed.body.signatures)?.ecdsa;
      const signature = given && lowerHalf(given);
      if (signature === undefined || !mayVerify(signed)) return undefined;
      signed.digest ??= Buffer.from(keccak_256(signed.body.bytes));
      if (!secp256k1.ecdsaVerify(signature, signed.digest, key.raw)) return undefined;
      return [{ kind: "ecdsa", key: key.raw, signature }];
    }
  }
}

interface Signed {
  readonly body: SignedBody;
  /** keccak-256 of the body, once some key needs it. */
  digest: Buffer | undefined;
  verificationsLeft: number;
}

function mayVerify(signed: Signed): boolean {
  signed.verificationsLeft -= 1;
  return signed.verificationsLeft >= 0;
}

function pairFor(raw: Buffer, pairs: readonly SignaturePair[]): SignaturePair | undefined {
  let best: SignaturePair | undefined;
  for (const pair of pairs) {
    const { length } = pair.keyPrefix;
    if (length > raw.length || length <= (best?.keyPrefix.length ?? -1)) continue;
    if (raw.compare(pair.keyPrefix, 0, length, 0, length) === 0) best = pair;
  }
  return best;
}

/** Older SDKs sign with either half of s; libsecp256k1 verifies the lower one only. */
function lowerHalf(signature: Buffer): Buffer | undefined {
  if (signature.length !== 64) return undefined;
  try {
    return Buffer.from(secp256k1.signatureNormalize(new Uint8Array(signature)));
  } catch {
    return undefined;
  }
}

function readProtoKey(key: proto.IKey, budget: { keysLeft: number }, depth = 0): Key {
  budget.keysLeft -= 1;
  if (budget.keysLeft < 0 || depth > depthMax) return unusable;
  if (key.ed25519) return ed25519Key(Buffer.from(key.ed25519));
  if (key.ECDSASecp256k1) return ecdsaKey(Buffer.from(key.ECDSASecp256k1));
  const children = key.thresholdKey ? key.thresholdKey.keys?.keys : key.keyList?.keys;
  if (!children?.length) return unusable;
  const threshold = key.thresholdKey ? (key.thresholdKey.threshold ?? 0) : children.length;
  return { kind: "threshold", threshold, keys: children.map((child) => readProtoKey(child, budget, depth + 1)) };
}

const unusable: Key = { kind: "unusable" };
const encodedBytesMax = 8_192;
const keysMax = 100;
const verificationsSpare = 8;
const depthMax = 15;
