import { type Key, keyFromProto } from "../crypto/keys.ts";
import type { Signatures } from "../crypto/signatures.ts";
import type { Account } from "../state/entities.ts";

/**
 * The key that speaks for an account: its own or, for a hollow account, the key that signed and has its EVM address.
 * Undefined when no key with that address signed.
 */
export function keyOfAccount(account: Account, signatures: Signatures): Key | undefined {
  if (account.key) return account.key;
  const signer = account.evmAddress ? signatures.signerWithAddress(account.evmAddress) : undefined;
  return signer && keyFromProto({ ECDSASecp256k1: signer });
}
