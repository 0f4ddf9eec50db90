import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import { addressWord, type Hex, word } from "./hex.ts";

/** EIP-3009's authorization to move `value` from `from` to `to` within a window of time, once per nonce. */
export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 bytes, lower case. */
  readonly nonce: Hex;
}

/** EIP-712 domain of a token. */
export interface Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

/** What the payer signs (EIP-712). */
export function authorizationDigest(domain: Domain, authorization: Authorization): Buffer {
  const struct = keccak(Buffer.from(typeHash + fieldWords(authorization), "hex"));
  return keccak(Buffer.concat([eip191Prefix, domainSeparator(domain), struct]));
}

/** The address whose key made a 65-byte signature; undefined for anything that is no strict signature (high s, odd v). */
export function recoverSigner(digest: Buffer, signature: Buffer): Hex | undefined {
  const split = splitSignature(signature);
  if (!split) return undefined;
  try {
    const publicKey = secp256k1.ecdsaRecover(split.compact, split.v - 27, digest, false);
    return addressOf(publicKey);
  } catch {
    return undefined;
  }
}

/** A 65-byte signature in parts, v lifted from 0/1 to 27/28; undefined when it is not one a token would take. */
function splitSignature(signature: Buffer): { compact: Uint8Array; v: number } | undefined {
  if (signature.length !== 65) return undefined;
  const last = signature[64] as number;
  const v = last < 27 ? last + 27 : last;
  const s = BigInt(`0x${signature.toString("hex", 32, 64)}`);
  if ((v !== 27 && v !== 28) || s > halfCurveOrder) return undefined;
  return { compact: new Uint8Array(signature.subarray(0, 64)), v };
}

/** Address of an uncompressed public key. */
export function addressOf(publicKey: Uint8Array): Hex {
  return `0x${keccak(publicKey.subarray(1)).toString("hex", 12)}`;
}

/** Call data of transferWithAuthorization: the `(v, r, s)` overload for keys, `(bytes)` for contract wallets. */
export function transferCall(authorization: Authorization, signature: Buffer, signer: "key" | "contract"): Hex {
  const fields = fieldWords(authorization);
  if (signer === "key") {
    const split = splitSignature(signature);
    if (!split) throw new Error("a key's signature was checked before this");
    return `0xe3ee160e${fields}${word(BigInt(split.v))}${Buffer.from(split.compact).toString("hex")}`;
  }
  const padded = signature.toString("hex").padEnd(Math.ceil(signature.length / 32) * 64, "0");
  return `0xcf092995${fields}${word(7n * 32n)}${word(BigInt(signature.length))}${padded}`;
}

/** What such call data says; undefined for anything else. */
export function readTransferCall(data: string): Authorization | undefined {
  if (!/^0x(e3ee160e|cf092995)([0-9a-f]{64}){9}/i.test(data)) return undefined;
  const wordAt = (place: number) => data.slice(10 + place * 64, 10 + (place + 1) * 64).toLowerCase();
  const [from, to] = [wordAt(0), wordAt(1)];
  if (!from.startsWith(noAddressBytes) || !to.startsWith(noAddressBytes)) return undefined;
  return {
    from: `0x${from.slice(24)}`,
    to: `0x${to.slice(24)}`,
    value: BigInt(`0x${wordAt(2)}`),
    validAfter: BigInt(`0x${wordAt(3)}`),
    validBefore: BigInt(`0x${wordAt(4)}`),
    nonce: `0x${wordAt(5)}`,
  };
}

const noAddressBytes = "0".repeat(24);

export function authorizationStateCall(from: Hex, nonce: Hex): Hex {
  return `0xe94a0102${addressWord(from)}${nonce.slice(2)}`;
}

export function balanceOfCall(owner: string): Hex {
  return `0x70a08231${addressWord(owner)}`;
}

export const nameCall: Hex = "0x06fdde03";
export const versionCall: Hex = "0x54fd4d50";

/** ERC-1271 isValidSignature(bytes32, bytes), and the only answer that means yes. */
export function isValidSignatureCall(digest: Buffer, signature: Buffer): Hex {
  const padded = signature.toString("hex").padEnd(Math.ceil(signature.length / 32) * 64, "0");
  return `0x1626ba7e${digest.toString("hex")}${word(64n)}${word(BigInt(signature.length))}${padded}`;
}
export const erc1271Magic = "0x1626ba7e".padEnd(66, "0");

export const transferTopic = topic("Transfer(address,address,uint256)");
export const authorizationUsedTopic = topic("AuthorizationUsed(address,bytes32)");
export const authorizationCanceledTopic = topic("AuthorizationCanceled(address,bytes32)");

const eip191Prefix = Buffer.from("1901", "hex");
const halfCurveOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const typeHash = keccak(
  Buffer.from(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
  ),
).toString("hex");
const domainTypeHash = keccak(
  Buffer.from("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
);

function fieldWords({ from, to, value, validAfter, validBefore, nonce }: Authorization): string {
  return addressWord(from) + addressWord(to) + word(value) + word(validAfter) + word(validBefore) + nonce.slice(2);
}

const separators = new Map<string, Buffer>();
const separatorsMax = 256;

/** Cached: the same few tokens come again and again. */
function domainSeparator(domain: Domain): Buffer {
  const key = JSON.stringify([domain.name, domain.version, domain.chainId, domain.verifyingContract]);
  const cached = separators.get(key);
  if (cached) return cached;
  const separator = keccak(
    Buffer.concat([
      domainTypeHash,
      keccak(Buffer.from(domain.name)),
      keccak(Buffer.from(domain.version)),
      Buffer.from(word(BigInt(domain.chainId)) + addressWord(domain.verifyingContract), "hex"),
    ]),
  );
  if (separators.size >= separatorsMax) separators.clear();
  separators.set(key, separator);
  return separator;
}

function topic(signature: string): Hex {
  return `0x${keccak(Buffer.from(signature)).toString("hex")}`;
}

function keccak(data: Uint8Array): Buffer {
  return Buffer.from(keccak_256(data));
}
