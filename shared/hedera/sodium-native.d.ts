declare module "sodium-native" {
  const sodium: {
    /** Derives a key pair from `seed` (32 bytes) into `publicKey` (32 bytes) and `secretKey` (64 bytes). */
    crypto_sign_seed_keypair(publicKey: Buffer, secretKey: Buffer, seed: Buffer): void;
    /** Writes into `signature` (64 bytes) the signature of `message` with `secretKey`. */
    crypto_sign_detached(signature: Buffer, message: Buffer, secretKey: Buffer): void;
    /** Whether `signature` (64 bytes) of `message` was made with the Ed25519 key `publicKey` (32 bytes). */
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  };
  export default sodium;
}
