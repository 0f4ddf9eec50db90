import { createPublicKey, verify } from "node:crypto";
import { proto } from "@hiero-ledger/proto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import secp256k1 from "secp256k1";
import { hashMessage, type PublicClient, verifyMessage } from "viem";
import { verifyHash } from "viem/actions";
import { ApiError } from "../../shared/errors.ts";
import { EndpointSilentError } from "../connectors/endpoint.ts";
import { type EvmChains, failureOfNode } from "../connectors/evm.ts";
import type { Hedera } from "../connectors/hedera/hedera.ts";
import { keyText, type MirrorKey } from "../connectors/hedera/mirror.ts";
import type { Wallet } from "../wallet.ts";

/** The chains that this service reads. */
export interface Chains {
  /** Undefined where the operator configured no mirror. */
  readonly hedera: Hedera | undefined;
  readonly evm: EvmChains;
}

/** The text that the holder of a wallet signs to show that it is theirs; good once, until `expiresAt`. */
export function challengeText(wallet: Wallet, purpose: string, host: string, nonce: string, expiresAt: Date): string {
  return [
    `${host} asks you to sign this message with your wallet:`,
    wallet.address,
    "",
    `${purpose} Signing costs nothing and moves nothing.`,
    "",
    `Network: ${wallet.network}`,
    `Nonce: ${nonce}`,
    `Expires: ${expiresAt.toISOString()}`,
  ].join("\n");
}

/**
 * Refuses a signature of `message` that the wallet's holder cannot have made. EVM: personal_sign, or whatever the
 * contract at the address accepts (EIP-1271), be it deployed or still to be (EIP-6492). Hedera: the account's one key, over the
 * text itself or the way `hedera_signMessage` (HIP-820) and `personal_sign` wrap it. 422 when it does not hold, 503 when the chain
 * is silent. Answers the key that signed on Hedera, where an account can be given another.
 */
export async function requireProof(
  chains: Chains,
  wallet: Wallet,
  message: string,
  signature: string,
): Promise<string | undefined> {
  if (wallet.network.startsWith("eip155:")) {
    const holds = await isSignedOnEvm(chains.evm.client(wallet.network), wallet, message, signature);
    if (!holds) throw notSigned();
    return undefined;
  }
  const key = await singleKey(chains, wallet);
  if (!signaturesIn(signature).some((bytes) => isSignedWith(key, message, bytes))) throw notSigned();
  return keyText(key);
}

const notSigned = () => refusal("is not this wallet's signature of the message");

async function isSignedOnEvm(
  client: PublicClient | undefined,
  wallet: Wallet,
  message: string,
  signature: string,
): Promise<boolean> {
  if (!/^0x([0-9a-fA-F]{2}){1,4096}$/.test(signature)) throw refusal("must be hexadecimal and begin with 0x");
  const signed = { address: wallet.address as `0x${string}`, message, signature: signature as `0x${string}` };
  // A plain wallet's signature needs no chain; a contract's does.
  if (await verifyMessage(signed).catch(() => false)) return true;
  if (!client) return false;
  // By itself viem takes a node that does not answer, or answers with an error of its own, for a contract that refuses.
  const asking = client.extend(() => ({
    call: answered(client.call),
    readContract: answered<PublicClient["readContract"]>(client.readContract),
  }));
  const { address } = signed;
  return verifyHash(asking, { address, hash: hashMessage(message), signature: signed.signature }).catch(refuseToGuess);
}

/** Throws what kept the node from answering in place of viem's error, which is the same for what a contract refuses. */
function answered<T extends (...asked: never[]) => Promise<unknown>>(ask: T): T {
  const asking = (...asked: never[]) =>
    ask(...asked).catch((error: unknown) => {
      throw failureOfNode(error) ?? error;
    });
  return asking as T;
}

/** The one key of an account on Hedera; 422 where it has none, or several. */
async function singleKey({ hedera }: Chains, { network, address }: Wallet): Promise<MirrorKey> {
  if (hedera?.network !== network) throw new ApiError("unavailable", `${network} cannot be read here.`);
  const account = await hedera.mirror.account(address).catch(refuseToGuess);
  if (!account || account.deleted) throw new ApiError("invalid_value", `There is no account ${address} on ${network}.`);
  const { key } = account;
  if (key?._type !== "ED25519" && key?._type !== "ECDSA_SECP256K1") {
    throw new ApiError("invalid_value", `${address} has not one key but several or none; use an account with one key.`);
  }
  return key;
}

/**
 * The key that an account on Hedera has now, of whatever kind; undefined for other wallets, and where it has none. 503 when the chain
 * is silent.
 */
export async function currentKey({ hedera }: Chains, { network, address }: Wallet): Promise<string | undefined> {
  if (hedera?.network !== network) return undefined;
  const account = await hedera.mirror.account(address).catch(refuseToGuess);
  return account?.key ? keyText(account.key) : undefined;
}

function isSignedWith({ _type, key }: MirrorKey, message: string, signature: Buffer): boolean {
  const raw = Buffer.from(key.replace(/^0x/, ""), "hex");
  const texts = [message, `\x19Hedera Signed Message:\n${message.length}${message}`].map((text) => Buffer.from(text));
  if (_type === "ED25519") {
    const object = createPublicKey({ key: Buffer.concat([ed25519Spki, raw]), format: "der", type: "spki" });
    return signature.length === 64 && texts.some((text) => verify(null, text, object, signature));
  }
  const digests = [...texts.map((text) => keccak_256(text)), hashMessage(message, "bytes")];
  return digests.some((digest) => isEcdsaSigned(signature.subarray(0, 64), digest, raw));
}

function isEcdsaSigned(signature: Buffer, digest: Uint8Array, raw: Buffer): boolean {
  try {
    return secp256k1.ecdsaVerify(secp256k1.signatureNormalize(new Uint8Array(signature)), digest, raw);
  } catch {
    return false;
  }
}

/** Wallets answer a bare signature (64 bytes, 65 with a recovery id) in hex or base64, or a SignatureMap in base64. */
function signaturesIn(text: string): Buffer[] {
  if (text.length > 8_192) throw refusal("is too long");
  const hex = text.replace(/^0x/, "");
  const bytes = Buffer.from(hex, /^([0-9a-fA-F]{2})+$/.test(hex) ? "hex" : "base64");
  if (bytes.length === 64 || bytes.length === 65) return [bytes];
  try {
    const { sigPair } = proto.SignatureMap.decode(bytes);
    return (sigPair ?? []).slice(0, 10).map(({ ed25519, ECDSASecp256k1 }) => {
      return Buffer.from(ed25519?.length ? ed25519 : (ECDSASecp256k1 ?? []));
    });
  } catch {
    throw refusal("must be a signature or a SignatureMap, in hexadecimal or base64");
  }
}

function refusal(problem: string): ApiError {
  return new ApiError("invalid_value", `"signature" ${problem}.`, { body: { field: "signature" } });
}

/** viem's errors quote the endpoint's URL, which can hold the operator's key for it: only its kind is kept. */
export function refuseToGuess(error: unknown): never {
  const reason = error instanceof EndpointSilentError ? error.message : (error as Error).name;
  throw new ApiError("unavailable", "The chain does not answer; try again shortly.", { cause: new Error(reason) });
}

const ed25519Spki = Buffer.from("302a300506032b6570032100", "hex");
