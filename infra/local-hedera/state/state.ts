import type { EntityNumber } from "../hapi/ids.ts";
import type { Account, Token, Topic } from "./entities.ts";
import type { Journal } from "./journal.ts";

/** Everything the chain knows except its transactions. Change it only through a Journal. */
export class ChainState {
  readonly accounts = new Map<EntityNumber, Account>();
  readonly tokens = new Map<EntityNumber, Token>();
  readonly topics = new Map<EntityNumber, Topic>();
  /** Hex of an alias or EVM address → account. */
  readonly aliases = new Map<string, EntityNumber>();
  nextNumber: EntityNumber = firstNewEntity;

  newNumber(journal: Journal): EntityNumber {
    const number = this.nextNumber;
    journal.set(this as ChainState, "nextNumber", number + 1);
    return number;
  }

  addAccount(journal: Journal, account: Account): Account {
    journal.put(this.accounts, account.number, account);
    for (const name of [account.alias, account.evmAddress]) {
      if (name) journal.put(this.aliases, name.toString("hex"), account.number);
    }
    return account;
  }

  /** The account an alias names: an alias it was created with, its EVM address, or the long-zero form of its number. */
  accountByAlias(alias: Uint8Array): Account | undefined {
    const hex = Buffer.from(alias).toString("hex");
    const number =
      this.aliases.get(hex) ?? (longZeroAddress.test(hex) ? Number.parseInt(hex.slice(24), 16) : undefined);
    return number === undefined ? undefined : this.accounts.get(number);
  }
}

export function newAccount(fields: Partial<Account> & Pick<Account, "number" | "createdAt">): Account {
  return {
    key: null,
    balance: 0n,
    memo: "",
    alias: null,
    evmAddress: null,
    receiverSignatureRequired: false,
    autoAssociationsMax: 0,
    autoAssociationsUsed: 0,
    deleted: false,
    autoRenewSeconds,
    relations: new Map(),
    hbarAllowances: new Map(),
    tokenAllowances: new Map(),
    nftOperators: new Map(),
    ...fields,
  };
}

/** The EVM address the mirror shows: the account's own, or its number padded to 20 bytes. */
export function shownEvmAddress(account: Account): string {
  return `0x${account.evmAddress?.toString("hex") ?? account.number.toString(16).padStart(40, "0")}`;
}

export function allowanceKey(token: EntityNumber, spender: EntityNumber): string {
  return `${token}/${spender}`;
}

export const autoRenewSeconds = 7_776_000;
/** Above the seeded accounts and the stablecoin's id. */
const firstNewEntity = 1_000_001;
const longZeroAddress = /^0{24}[0-9a-f]{16}$/;
