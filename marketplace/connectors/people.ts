import type { Queryable } from "../../shared/postgres.ts";
import { checkedWallets } from "../accounts/payout-wallets.ts";
import type { AccountId } from "../ids.ts";

/** What connectors may know about accounts. */
export interface People {
  /**
   * The account's checked payout wallet on a network. An agent acts on nobody else's: whoever granted the operator an
   * allowance granted it for agents of their own.
   */
  wallet(accountId: AccountId, network: string): Promise<string | undefined>;
  handle(accountId: AccountId): Promise<string>;
}

export function peopleIn(db: Queryable): People {
  return {
    wallet: async (accountId, network) =>
      (await checkedWallets(db, accountId)).find((wallet) => wallet.network === network)?.address,
    handle: async (accountId) => {
      const { rows } = await db.query<{ handle: string }>("select handle from accounts where id = $1", [accountId]);
      if (!rows[0]) throw new Error(`${accountId} does not exist`);
      return rows[0].handle;
    },
  };
}
