import type { Queryable } from "../../shared/postgres.ts";
import type { AccountDirectory } from "../connectors/account-directory.ts";
import { checkedWallet } from "./payout-wallets.ts";

export function accountDirectory(db: Queryable): AccountDirectory {
  return {
    wallet: (accountId, network) => checkedWallet(db, accountId, network),
    handle: async (accountId) => {
      const { rows } = await db.query<{ handle: string }>("select handle from accounts where id = $1", [accountId]);
      if (!rows[0]) throw new Error(`${accountId} does not exist`);
      return rows[0].handle;
    },
  };
}
