import { isAddress } from "viem/utils";
import { ApiError } from "../../shared/errors.ts";
import { networksOf } from "../../shared/networks.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { type AccountId, newId, type WalletId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import { lockOpenAccount } from "./create.ts";

/** The chains that a creator can be paid on (CAIP-2), with the form of an address there. */
const chainForms: ReadonlyArray<{ isOf: (network: string) => boolean; address: RegExp; meaning: string }> = [
  {
    isOf: (network) => networksOf("hedera").includes(network),
    // Mirrors refuse to look for longer ones.
    address: /^0\.0\.[1-9]\d{0,11}$/,
    meaning: "an account id such as 0.0.1234",
  },
  {
    isOf: (network) => /^eip155:[1-9]\d{0,18}$/.test(network),
    address: /^0x[0-9a-fA-F]{40}$/,
    meaning: "0x and 40 hexadecimal digits",
  },
];

/** Refuses what cannot be a wallet; 422 naming the field. */
export function requireWalletForm({ network, address }: Wallet): void {
  const form = chainForms.find(({ isOf }) => isOf(network));
  if (!form) throw refusal("network", `must be ${networksOf("hedera").join(", ")} or eip155:<chain id>`);
  if (!form.address.test(address)) throw refusal("address", `must be ${form.meaning} on ${network}`);
  // All in one case carries no checksum; mixed case must be right.
  const isMixed = /[a-f]/.test(address) && /[A-F]/.test(address);
  if (isMixed && !isAddress(address)) {
    throw refusal("address", "has a wrong checksum: a letter or its case is mistyped");
  }
}

/**
 * Sets where the account is paid on a network. `checked` says that the operator made sure that the wallet exists, takes
 * the asset and belongs to the account. Only then it replaces the former wallet and is quoted.
 */
export async function addPayoutWallet(db: Database, input: NewWallet): Promise<PayoutWallet> {
  requireWalletForm(input);
  const { accountId, network, address, checked } = input;
  return inTransaction(db, async (tx) => {
    const wallet = await proposeWallet(tx, accountId, { network, address });
    if (checked) await adoptWallet(tx, accountId, wallet.id);
    return wallet;
  });
}

/** Notes a wallet that has yet to be proved by signing `challenge`, in place of one proposed before. */
export async function proposeWallet(
  tx: Transaction,
  accountId: AccountId,
  { network, address }: Wallet,
  challenge?: { readonly message: string; readonly expiresAt: Date },
): Promise<PayoutWallet> {
  await lockOpenAccount(tx, accountId);
  await tx.query("delete from payout_wallets where account_id = $1 and network = $2 and state = 'unchecked'", [
    accountId,
    network,
  ]);
  const id = newId("wal");
  await tx.query(
    `insert into payout_wallets (id, account_id, network, address, state, challenge, challenge_expires_at)
     values ($1, $2, $3, $4, 'unchecked', $5, $6)`,
    [id, accountId, network, address, challenge?.message ?? null, challenge?.expiresAt ?? null],
  );
  return { id, network, address };
}

/** Makes a proposed wallet of the account the one that is paid from now on. False when it is not proposed any more. */
export async function adoptWallet(tx: Transaction, accountId: AccountId, id: WalletId): Promise<boolean> {
  await lockOpenAccount(tx, accountId);
  await tx.query(
    `update payout_wallets former set state = 'retired' from payout_wallets proposed
     where proposed.id = $1 and proposed.state = 'unchecked' and former.state in ('checked', 'unpayable')
       and former.account_id = proposed.account_id and former.network = proposed.network`,
    [id],
  );
  const { rowCount } = await tx.query(
    `update payout_wallets set state = 'checked', checked_at = now(), looked_at = now(), problem = null, reason = null,
       challenge = null, challenge_expires_at = null
     where id = $1 and state = 'unchecked'`,
    [id],
  );
  return rowCount === 1;
}

/** The wallet that a creator can be paid to on a network now, and the key that it signed with, where that is known. */
export async function checkedWallet(
  db: Queryable,
  accountId: AccountId,
  network: string,
): Promise<{ readonly address: string; readonly provedKey: string | undefined } | undefined> {
  const { rows } = await db.query<{ address: string; key: string | null }>({
    name: "checked wallet",
    text: `select address, proved_key as key from payout_wallets
           where account_id = $1 and network = $2 and state = 'checked'`,
    values: [accountId, network],
  });
  return rows[0] && { address: rows[0].address, provedKey: rows[0].key ?? undefined };
}

/** The wallet the account has set on a network: the one last proposed, or else the one that was checked, be it payable now or not. */
export async function currentWallet(
  db: Queryable,
  accountId: AccountId,
  network: string,
): Promise<(PayoutWallet & { checked: boolean }) | undefined> {
  const { rows } = await db.query(
    `select id, network, address, state <> 'unchecked' as checked from payout_wallets
     where account_id = $1 and network = $2 and state <> 'retired' order by state = 'unchecked' desc limit 1`,
    [accountId, network],
  );
  return rows[0];
}

export interface PayoutWallet extends Wallet {
  readonly id: WalletId;
}

interface NewWallet extends Wallet {
  readonly accountId: AccountId;
  readonly checked: boolean;
}

function refusal(field: string, problem: string): ApiError {
  return new ApiError("invalid_value", `"${field}" ${problem}.`, { body: { field } });
}
