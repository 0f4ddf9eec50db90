import { randomBytes } from "node:crypto";

export type AccountId = `acc_${string}`;
export type KeyId = `key_${string}`;
export type AgentId = `agt_${string}`;
export type RunId = `run_${string}`;
export type WalletId = `wal_${string}`;

/** Owns the drawings that are sold without an account. */
export const platformAccount: AccountId = "acc_platform";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** `run_` and 26 characters: ten of the time, so that new rows sit together in an index, and sixteen (80 bits) of chance. */
export function newId<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}` {
  let id = "";
  for (let time = Date.now(), n = 0; n < 10; n += 1, time = Math.floor(time / 32)) id = alphabet[time % 32] + id;
  for (const byte of randomBytes(16)) id += alphabet[byte % 32];
  return `${prefix}_${id}`;
}
