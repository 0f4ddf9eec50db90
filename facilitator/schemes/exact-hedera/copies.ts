import { createHash } from "node:crypto";
import type { HederaFeePayers } from "./fee-payers.ts";
import type { Sendable, Signature } from "./keys.ts";
import { readSigned } from "./payload.ts";
import { writeField } from "./wire.ts";

/** One signed Transaction, the node it names, and its hash as the mirror shows it. */
export interface Copy {
  readonly node: string;
  readonly raw: Buffer;
  readonly hash: string;
}

/** Throws KeyAwayError. */
export async function signCopy(feePayers: HederaFeePayers, feePayer: string, sendable: Sendable): Promise<Copy> {
  const { node, bytes, signatures } = sendable;
  const pairs = [...signatures, await feePayers.sign(feePayer, bytes)].map(signaturePair);
  const signed = Buffer.concat([writeField(1, bytes), writeField(2, ...pairs)]);
  return { node, raw: writeField(5, signed), hash: hashOf(signed) };
}

export function readCopy(raw: Buffer): Copy {
  const { node, signed } = readSigned(raw);
  return { node, raw, hash: hashOf(signed) };
}

function hashOf(signed: Buffer): string {
  return createHash("sha384").update(signed).digest("base64");
}

/** With the whole key as its prefix, so that no other key begins like it. */
function signaturePair({ kind, key, signature }: Signature): Buffer {
  return writeField(1, writeField(1, key), writeField(kind === "ed25519" ? 3 : 6, signature));
}
