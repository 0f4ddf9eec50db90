import sodium from "sodium-native";

export interface Ed25519KeyPair {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  readonly secretKey: Buffer;
}

/** `seed`: the 32 bytes of a private key. */
export function ed25519KeyPair(seed: Buffer): Ed25519KeyPair {
  const publicKey = Buffer.alloc(32);
  const secretKey = Buffer.alloc(64);
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
  return { publicKey, secretKey };
}

/** 64 bytes. Takes half the time of `node:crypto`. */
export function signEd25519(message: Buffer, { secretKey }: Ed25519KeyPair): Buffer {
  const signature = Buffer.alloc(64);
  sodium.crypto_sign_detached(signature, message, secretKey);
  return signature;
}

/** The check that the network itself makes; takes half the time of `node:crypto`. False for a signature that has not 64 bytes. */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return signature.length === 64 && sodium.crypto_sign_verify_detached(signature, message, publicKey);
}
