import { evmAddressOf, type Key, keyFromBytes, keyFromProto } from "../crypto/keys.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account } from "../state/entities.ts";
import { newAccount } from "../state/state.ts";

/** The account a credit to an unused alias creates: hollow for an EVM address, complete for a serialized public key. */
export function addAccountForAlias(handling: Handling, alias: Buffer): Account {
  const key = alias.length === evmAddressBytes ? null : keyOfAlias(alias);
  ensure(key === null || key.kind !== "list", "INVALID_ALIAS_KEY");
  const account = newAccount({
    number: handling.state.newNumber(handling.journal),
    createdAt: handling.consensusAt,
    key,
    alias,
    evmAddress: evmAddressOfAlias(alias),
    autoAssociationsMax: -1,
  });
  return handling.state.addAccount(handling.journal, account);
}

const keyOfAlias = (alias: Buffer): Key => {
  let key: Key | undefined;
  try {
    key = keyFromBytes(alias);
  } catch {
    key = undefined;
  }
  ensure(key !== undefined, "INVALID_ALIAS_KEY");
  return key;
};

/**
 * The key that must sign for an account to be created under `alias`: the key the alias is, or whose EVM address it is.
 * Undefined when that key did not sign.
 */
export function signerOfAlias(alias: Buffer, key: Key, signatures: Signatures): Key | undefined {
  if (alias.length !== evmAddressBytes) return keyOfAlias(alias);
  if (key.kind === "ecdsa" && evmAddressOf(key.raw).equals(alias)) return key;
  const signer = signatures.signerWithAddress(alias);
  return signer && keyFromProto({ ECDSASecp256k1: signer });
}

export function evmAddressOfAlias(alias: Buffer): Buffer | null {
  if (alias.length === evmAddressBytes) return alias;
  const key = keyOfAlias(alias);
  return key.kind === "ecdsa" ? evmAddressOf(key.raw) : null;
}

const evmAddressBytes = 20;
