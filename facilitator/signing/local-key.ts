import secp256k1 from "secp256k1";
import type { EcdsaSignature, SigningKey } from "./signing-key.ts";

/** A private key of 32 bytes in this process. Throws an Error that never quotes it. */
export function localKey(secret: Uint8Array): SigningKey {
  if (!isPrivateKey(secret)) throw new Error("the private key is no secp256k1 key");
  const publicKey = Buffer.from(secp256k1.publicKeyCreate(secret, true));
  const signAtOnce = (digest: Uint8Array): EcdsaSignature => {
    const { signature, recid } = secp256k1.ecdsaSign(digest, secret);
    return { compact: signature, recovery: recid };
  };
  return {
    publicKey: async () => publicKey,
    sign: async (digest) => signAtOnce(digest),
    signAtOnce,
    isThere: true,
    lookAgain: async () => {},
  };
}

export function isPrivateKey(secret: Uint8Array): boolean {
  return secret.length === 32 && secp256k1.privateKeyVerify(secret);
}
