import secp256k1 from "secp256k1";
import type { Log } from "../../shared/log.ts";
import type { Kms } from "./kms.ts";
import { type EcdsaSignature, KeyAwayError, KeyBusyError, type SigningKey } from "./signing-key.ts";

/** A key of type ECC_SECG_P256K1 in AWS KMS, by its id, ARN or alias. */
export class KmsKey implements SigningKey {
  readonly signAtOnce = undefined;
  readonly #kms: Kms;
  readonly #id: string;
  readonly #log: Log;
  #publicKey: Buffer | undefined;
  #isThere = true;

  constructor(kms: Kms, id: string, log: Log) {
    this.#kms = kms;
    this.#id = id;
    this.#log = log;
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  async publicKey(): Promise<Buffer> {
    this.#publicKey ??= await this.#watched(async () => readPublicKey(await this.#kms.publicKey(this.#id)));
    return this.#publicKey;
  }

  async sign(digest: Uint8Array): Promise<EcdsaSignature> {
    const publicKey = await this.publicKey();
    return this.#watched(async () => signatureOf(await this.#kms.sign(this.#id, digest), digest, publicKey));
  }

  async lookAgain(): Promise<void> {
    if (this.#isThere) return;
    // By a signature, since that may be forbidden while the key may be read.
    await this.sign(nothing).then(
      () => this.#log.info({ key: this.#id }, "a key in the KMS signs again"),
      () => {},
    );
  }

  async #watched<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.#isThere = true;
      return answer;
    } catch (error) {
      if (error instanceof KeyBusyError) throw error;
      if (this.#isThere) this.#log.error({ err: error, key: this.#id }, "a key in the KMS does not sign");
      this.#isThere = false;
      throw error;
    }
  }
}

/** SubjectPublicKeyInfo ends with the point. */
function readPublicKey(der: Buffer): Buffer {
  const point = der.subarray(-65);
  if (!der.includes(secp256k1Oid) || point[0] !== 4 || !secp256k1.publicKeyVerify(point)) {
    throw new KeyAwayError("the key in the KMS is no secp256k1 key (ECC_SECG_P256K1)");
  }
  return Buffer.from(secp256k1.publicKeyConvert(point, true));
}

/** Chains take the lower s only; which of the two keys that fit is ours is found by trying both. */
function signatureOf(der: Buffer, digest: Uint8Array, publicKey: Buffer): EcdsaSignature {
  const compact = compactOf(der);
  const recovery = [0, 1].find((id) => recovers(compact, id, digest, publicKey));
  if (recovery === undefined) throw new KeyAwayError("the KMS signed with another key than the one it shows");
  return { compact, recovery };
}

function compactOf(der: Buffer): Uint8Array {
  try {
    return secp256k1.signatureNormalize(secp256k1.signatureImport(der));
  } catch (cause) {
    throw new KeyAwayError("what the KMS signed is no DER signature", { cause });
  }
}

function recovers(compact: Uint8Array, id: number, digest: Uint8Array, publicKey: Buffer): boolean {
  try {
    return publicKey.equals(secp256k1.ecdsaRecover(compact, id, digest, true));
  } catch {
    return false;
  }
}

const secp256k1Oid = Buffer.from("06052b8104000a", "hex");
/** No transaction has this digest. */
const nothing = new Uint8Array(32).fill(1);
