import type { AccountId } from "../ids.ts";

/** What connectors may know about accounts. */
export interface AccountDirectory {
  /**
   * The account's checked payout wallet on a network. An agent acts on no other wallet: a creator who granted the
   * operator an allowance granted it for agents of their own.
   */
  wallet(accountId: AccountId, network: string): Promise<OwnWallet | undefined>;
  handle(accountId: AccountId): Promise<string>;
}

export interface OwnWallet {
  readonly address: string;
  /** The key that it signed with when it proved itself; undefined where that is not known. */
  readonly provedKey: string | undefined;
}
