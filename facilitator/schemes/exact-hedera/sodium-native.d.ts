declare module "sodium-native" {
  const sodium: {
    /** Whether `signature` (64 bytes) of `message` was made with the Ed25519 key `publicKey` (32 bytes). */
    crypto_sign_verify_detached(signature: Buffer, message: Buffer, publicKey: Buffer): boolean;
  };
  export default sodium;
}
