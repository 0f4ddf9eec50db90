import type { Queryable } from "../../shared/postgres.ts";
import type { WalletId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import { problemOf, type WalletProblem } from "./wallet-check.ts";
import { type Chains, currentKey } from "./wallet-proof.ts";

/** Why a wallet cannot be paid, or else why agents do not act with it; undefined where neither is so. 503 when the chain does not answer. */
export async function findingOf(db: Queryable, chains: Chains, wallet: KeptWallet): Promise<WalletProblem | undefined> {
  return (await problemOf(chains, wallet)) ?? (await keyProblemOf(db, chains, wallet));
}

/** Agents do not act with a wallet that has another key than the one that signed; it is paid all the same. */
export function canBePaid(found: WalletProblem | undefined): boolean {
  return found === undefined || found.reason === "another_key";
}

async function keyProblemOf(db: Queryable, chains: Chains, wallet: KeptWallet): Promise<WalletProblem | undefined> {
  if (!wallet.network.startsWith("hedera:")) return undefined;
  const { rows } = await db.query<{ key: string | null }>(
    "select proved_key as key from payout_wallets where id = $1",
    [wallet.id],
  );
  const proved = rows[0]?.key ?? undefined;
  if (proved === undefined) return undefined;
  const key = await currentKey(chains, wallet);
  if (key === proved) return undefined;
  // Which key it is, so that another change is told in another text.
  const has = key === undefined ? "no key any more" : `another key (…${key.slice(-8)}) than the one that signed for it`;
  const text = `The account ${wallet.address} has ${has}. It is paid as before, but your agents do not act with it until it is added again.`;
  return { reason: "another_key", text };
}

interface KeptWallet extends Wallet {
  readonly id: WalletId;
}
