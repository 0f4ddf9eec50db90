/** A secp256k1 private key, in this process or in a service that signs with it and never hands it out. */
export interface SigningKey {
  /** 33 bytes. Throws KeyAwayError. */
  publicKey(): Promise<Buffer>;
  /** Signs a digest of 32 bytes. Throws KeyAwayError. */
  sign(digest: Uint8Array): Promise<EcdsaSignature>;
  /** Signs without waiting; only a key in this process can. */
  readonly signAtOnce: ((digest: Uint8Array) => EcdsaSignature) | undefined;
  /** False from when the key could not be asked until it answers again. */
  readonly isThere: boolean;
  /** Asks a key that is not there again. Never throws. */
  lookAgain(): Promise<void>;
}

export interface EcdsaSignature {
  /** r and s, 64 bytes, s in its lower half. */
  readonly compact: Uint8Array;
  /** Which of the two keys that fit the signature is ours. */
  readonly recovery: number;
}

/** The service that has the key does not answer, or will not sign: nothing was signed. */
export class KeyAwayError extends Error {}

/** The service is asked too often: it has the key and signs with it later. */
export class KeyBusyError extends KeyAwayError {}
