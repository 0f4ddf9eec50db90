import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { type AccountId, newId, type WalletId } from "../ids.ts";

/** CAIP-2 of the ledgers a creator can be paid on, with what an address there looks like. */
const ledgers: ReadonlyArray<{ network: RegExp; address: RegExp; meaning: string }> = [
  {
    network: /^hedera:(mainnet|testnet)$/,
    address: /^0\.0\.[1-9]\d{0,18}$/,
    meaning: "an account id such as 0.0.1234",
  },
  { network: /^eip155:[1-9]\d{0,18}$/, address: /^0x[0-9a-fA-F]{40}$/, meaning: "0x and 40 hexadecimal digits" },
];

/**
 * Sets where the account is paid on a network, replacing an earlier wallet there. `checked` says that somebody made
 * sure the wallet exists, takes the asset and belongs to the account; only then it is ever quoted.
 */
export async function addPayoutWallet(db: Database, input: NewWallet): Promise<PayoutWallet> {
  const ledger = ledgers.find(({ network }) => network.test(input.network));
  if (!ledger)
    throw new ApiError("invalid_value", '"network" must be hedera:mainnet, hedera:testnet or eip155:<chain id>.');
  if (!ledger.address.test(input.address)) {
    throw new ApiError("invalid_value", `"address" must be ${ledger.meaning} on ${input.network}.`);
  }
  const { accountId, network, address, checked } = input;
  return inTransaction(db, async (tx) => {
    await tx.query("select from accounts where id = $1 for update", [accountId]);
    await tx.query(
      "update payout_wallets set state = 'retired' where account_id = $1 and network = $2 and state <> 'retired'",
      [accountId, network],
    );
    const id = newId("wal");
    await tx.query(
      `insert into payout_wallets (id, account_id, network, address, state, checked_at)
       values ($1, $2, $3, $4, $5, case when $5 = 'checked' then now() end)`,
      [id, accountId, network, address, checked ? "checked" : "unchecked"],
    );
    return { id, network, address };
  });
}

/** The wallets a creator can be paid to now, in a stable order. */
export async function checkedWallets(db: Queryable, accountId: AccountId): Promise<PayoutWallet[]> {
  const { rows } = await db.query({
    name: "checked wallets",
    text: `select id, network, address from payout_wallets
           where account_id = $1 and state = 'checked' order by network`,
    values: [accountId],
  });
  return rows;
}

/** The wallet the account has set on a network, checked or not. */
export async function currentWallet(
  db: Queryable,
  accountId: AccountId,
  network: string,
): Promise<(PayoutWallet & { checked: boolean }) | undefined> {
  const { rows } = await db.query(
    `select id, network, address, state = 'checked' as checked from payout_wallets
     where account_id = $1 and network = $2 and state <> 'retired'`,
    [accountId, network],
  );
  return rows[0];
}

export interface PayoutWallet {
  readonly id: WalletId;
  readonly network: string;
  readonly address: string;
}

interface NewWallet {
  readonly accountId: AccountId;
  readonly network: string;
  readonly address: string;
  readonly checked: boolean;
}
