import type { ChainContext } from "./context.ts";
import { type Key, keyFromProto } from "./crypto/keys.ts";
import { addRelation } from "./handlers/relations.ts";
import { entityText, parseEntityText } from "./hapi/ids.ts";
import { treasuryNumber, usdcNumber } from "./seed.ts";
import type { Account, Token } from "./state/entities.ts";
import { Journal } from "./state/journal.ts";
import { newAccount } from "./state/state.ts";

/** Gives away what a test network's faucet gives. It acts on the chain directly: no transaction, no fee, no signature. */
export class Faucet {
  readonly #chain: ChainContext;

  constructor(chain: ChainContext) {
    this.#chain = chain;
  }

  /** Creates an account for a public key: raw (32 or 33 bytes) or DER, hex. */
  createAccount(options: NewAccountOptions): { accountId: string } {
    const key = parsePublicKey(options.publicKey);
    const tokens = (options.associate ?? []).map((id) => this.#token(id));
    return this.#change((journal, consensusAt) => {
      const { state } = this.#chain;
      const account = newAccount({
        number: state.newNumber(journal),
        createdAt: consensusAt,
        key,
        autoAssociationsMax: options.maxAutoAssociations ?? 0,
        receiverSignatureRequired: options.receiverSignatureRequired ?? false,
      });
      state.addAccount(journal, account);
      for (const token of tokens) addRelation({ journal, consensusAt }, token, account);
      this.#moveHbar(journal, account, options.tinybars ?? 0n);
      return { accountId: entityText(account.number) };
    });
  }

  /** Moves tinybars from the treasury. */
  giveHbar(account: string, tinybars: bigint): void {
    this.give(account, { tinybars });
  }

  /** Mints units of a fungible token (USDC unless named) into an associated account. */
  giveToken(account: string, units: bigint, token?: string): void {
    this.give(account, { units, ...(token !== undefined && { token }) });
  }

  /** Associates an account with tokens; those it has already are left alone. */
  associate(account: string, ...tokens: string[]): void {
    const to = this.#account(account);
    this.#change((journal, consensusAt) => {
      for (const token of tokens) this.#associate(journal, consensusAt, to, this.#token(token));
    });
  }

  /** HBAR, units of a token and the association it needs, all or nothing. */
  give(account: string, gift: Gift): void {
    const to = this.#account(account);
    const token = this.#token(gift.token ?? entityText(usdcNumber));
    this.#change((journal, consensusAt) => {
      if (gift.tinybars !== undefined) this.#moveHbar(journal, to, gift.tinybars);
      if (gift.associate) this.#associate(journal, consensusAt, to, token);
      if (gift.units !== undefined) this.#mint(journal, to, token, gift.units);
    });
  }

  #moveHbar(journal: Journal, to: Account, tinybars: bigint): void {
    const treasury = this.#chain.state.accounts.get(treasuryNumber)!;
    if (tinybars < 0n || tinybars > treasury.balance)
      throw new FaucetError("hbar", "is negative or more than there is");
    journal.set(treasury, "balance", treasury.balance - tinybars);
    journal.set(to, "balance", to.balance + tinybars);
  }

  #mint(journal: Journal, to: Account, token: Token, units: bigint): void {
    const [account, id] = [entityText(to.number), entityText(token.number)];
    const relation = to.relations.get(token.number);
    if (!relation) throw new FaucetError("account", `${account} is not associated with ${id}`);
    if (token.unique) throw new FaucetError("token", `${id} is a collection of NFTs`);
    if (units <= 0n || token.totalSupply + units > unitsMax)
      throw new FaucetError("amount", "must be positive and fit the supply");
    journal.set(relation, "balance", relation.balance + units);
    journal.set(token, "totalSupply", token.totalSupply + units);
  }

  #associate(journal: Journal, consensusAt: bigint, to: Account, token: Token): void {
    if (!to.relations.has(token.number)) addRelation({ journal, consensusAt }, token, to);
  }

  #account(text: string): Account {
    const account = this.#chain.state.accounts.get(parseEntityText(text) ?? 0);
    if (!account || account.deleted) throw new FaucetError("account", `${text} does not exist`);
    return account;
  }

  #token(text: string): Token {
    const token = this.#chain.state.tokens.get(parseEntityText(text) ?? 0);
    if (!token || token.deleted) throw new FaucetError("token", `${text} does not exist`);
    return token;
  }

  #change<T>(make: (journal: Journal, consensusAt: bigint) => T): T {
    const journal = new Journal(this.#chain.history);
    try {
      return make(journal, this.#chain.clock.nextConsensus());
    } catch (error) {
      journal.rollback();
      throw error;
    } finally {
      this.#chain.changed();
    }
  }
}

/** A wish the faucet cannot grant, naming the field that is wrong. */
export class FaucetError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.name = "FaucetError";
    this.field = field;
  }
}

const parsePublicKey = (text: string): Key => {
  const hex = text.toLowerCase().replace(/^0x/, "");
  const raw = Buffer.from(hex.replace(ed25519DerPrefix, "").replace(ecdsaDerPrefix, ""), "hex");
  const key =
    raw.length === 32
      ? keyFromProto({ ed25519: raw })
      : raw.length === 33
        ? keyFromProto({ ECDSASecp256k1: raw })
        : undefined;
  if (!key) throw new FaucetError("publicKey", "must be an ed25519 or ECDSA secp256k1 public key, hex, raw or DER");
  return key;
};

const unitsMax = 2n ** 63n - 1n;
const ed25519DerPrefix = /^302a300506032b6570032100/;
const ecdsaDerPrefix = /^302d300706052b8104000a032200/;

export type Gift = {
  tinybars?: bigint;
  /** Base units of `token`, which is USDC unless named. */
  units?: bigint;
  token?: string;
  associate?: boolean;
};

export type NewAccountOptions = {
  publicKey: string;
  tinybars?: bigint;
  associate?: string[];
  maxAutoAssociations?: number;
  receiverSignatureRequired?: boolean;
};
