import type { JsonObject } from "../../../shared/json.ts";
import type { Log } from "../../../shared/log.ts";
import { inTurn } from "../../signing/in-turn.ts";
import { openKey } from "../../signing/keys.ts";
import type { Kms } from "../../signing/kms.ts";
import { KeyAwayError } from "../../signing/signing-key.ts";
import { FeePayerRounds } from "../fee-payer-rounds.ts";
import { FeePayerFunds } from "../fee-payers.ts";
import { type FeePayerBalance, NetworkAwayError, type SchemeNeeds } from "../scheme.ts";
import { SignerLeases } from "../signer-leases.ts";
import type { HederaConfig, HederaFeePayerConfig } from "./config.ts";
import type { Key, Signature } from "./keys.ts";
import type { Mirror } from "./mirror.ts";
import { ecdsaSigner, readSigner, type Signer } from "./signer.ts";

type Needs = Omit<SchemeNeeds, "store">;

/** The accounts that pay network fees on one Hedera network, and their keys. */
export class HederaFeePayers {
  readonly accounts: readonly string[];
  readonly #config: HederaConfig;
  readonly #mirror: Mirror;
  readonly #log: Log;
  readonly #kms: Kms | undefined;
  readonly #signers = new Map<string, Signer>();
  /** Fee payers whose key is known to be their account's. */
  readonly #compared = new Set<string>();
  readonly #funds: ReadonlyMap<string, FeePayerFunds>;
  readonly #leases: SignerLeases;
  readonly #rounds: FeePayerRounds;
  /** Never throws. */
  readonly lookForKeys: () => Promise<void>;

  constructor(config: HederaConfig, mirror: Mirror, needs: Needs) {
    const { db, log, kms } = needs;
    this.#config = config;
    this.#mirror = mirror;
    this.#log = log;
    this.#kms = kms;
    this.accounts = config.feePayers.map(({ accountId }) => accountId);
    const settings = { ...config, unit: "HBAR", decimals: 8 } as const;
    this.#funds = new Map(this.accounts.map((account) => [account, new FeePayerFunds(account, settings, { db, log })]));
    this.#leases = new SignerLeases(config.network, this.accounts, needs);
    const read = (id: string) => mirror.account(id, 0);
    const members = [...this.#funds].map(([id, funds]) => ({
      id,
      funds,
      signs: () => this.#signs(id),
      read: () => read(id),
    }));
    this.#rounds = new FeePayerRounds(members, this.#leases, () => read(this.accounts[0] as string));
    this.lookForKeys = inTurn(
      this.accounts.map((id) => ({
        isThere: () => this.#signs(id),
        look: () => this.#lookForKey(id).catch(() => {}),
      })),
    );
  }

  /** Throws KeyAwayError. */
  sign(account: string, bodyBytes: Buffer): Promise<Signature> {
    const signer = this.#signers.get(account);
    if (!signer) throw new Error(`no key is loaded for fee payer ${account}`);
    return signer.sign(bodyBytes);
  }

  get balances(): readonly FeePayerBalance[] {
    return this.accounts.map((account) => this.balanceOf(account));
  }

  /** The fee payers that this copy looks after. */
  get leased(): readonly string[] {
    return this.accounts.filter((account) => this.#leases.holds(account));
  }

  balanceOf(account: string): FeePayerBalance {
    return {
      ...this.#fundsOf(account).balance,
      signs: this.#signs(account),
      leased: this.#leases.holds(account),
    };
  }

  /** The network refused a transaction because this account could not pay its fee. */
  noteEmpty(account: string): void {
    this.#log.error({ account, network: this.#config.network }, "a fee payer has no HBAR left for network fees");
    // The account may have been taken out of the configuration since it signed.
    this.#funds.get(account)?.noteRefused(async () => 0n);
  }

  /** Loads the keys, compares them with the chain's and reads the balances. Answers every problem found. */
  async start(): Promise<readonly string[]> {
    const problems = await Promise.all(this.#config.feePayers.map((feePayer) => this.#load(feePayer)));
    await this.#rounds.start();
    return problems.flat();
  }

  renewLeases(): Promise<void> {
    return this.#rounds.renewLeases();
  }

  readBalances(): Promise<void> {
    return this.#rounds.readBalances();
  }

  handOver(): Promise<void> {
    return this.#leases.handOver();
  }

  /** Asks keys that were away again, and compares them then. */
  async #lookForKey(account: string): Promise<void> {
    const signer = this.#signers.get(account);
    await signer?.lookAgain();
    if (!signer?.isThere || this.#compared.has(account)) return;
    const problems = await this.#compare(account, signer);
    if (problems.length > 0) this.#log.error({ problems }, "a fee payer sends nothing: its key is not its account's");
  }

  #signs(account: string): boolean {
    return this.#compared.has(account) && (this.#signers.get(account)?.isThere ?? false);
  }

  async #load(feePayer: HederaFeePayerConfig): Promise<readonly string[]> {
    const { accountId: account } = feePayer;
    let signer: Signer;
    try {
      signer = this.#signers.get(account) ?? this.#open(feePayer);
    } catch (error) {
      return [`fee payer ${account}: ${(error as Error).message}`];
    }
    this.#signers.set(account, signer);
    try {
      return await this.#compare(account, signer);
    } catch (error) {
      if (error instanceof NetworkAwayError) throw error;
      // Looked for again, and compared then.
      if (error instanceof KeyAwayError) return [];
      return [`fee payer ${account} could not be checked: ${(error as Error).message}`];
    }
  }

  #open(feePayer: HederaFeePayerConfig): Signer {
    if ("privateKey" in feePayer) return readSigner(feePayer.privateKey.reveal());
    return ecdsaSigner(openKey(feePayer, { kms: this.#kms, log: this.#log }));
  }

  /** G18: with another key than the account's, every settlement would fail. */
  async #compare(account: string, signer: Signer): Promise<readonly string[]> {
    const { kind } = signer;
    const publicKey = await signer.publicKey();
    const found = await this.#mirror.account(account, 0);
    if (!found || found.deleted) return [`fee payer ${account} does not exist on ${this.#config.network}`];
    const { key } = found;
    if (key.kind !== kind || !key.raw.equals(publicKey)) {
      const given = `${kind} ${publicKey.toString("hex")}`;
      return [`fee payer ${account}: the key given is for ${given}, the account's key is ${describe(key)}`];
    }
    await this.#warnOfRiches(account);
    await this.#tellOfOthersWithKey(account, publicKey);
    this.#compared.add(account);
    return [];
  }

  /**
   * Authority on this chain is by key: the fee payer's signature is good for whatever another account with its key owns. It is
   * given only under what a payer has signed already; and any Hedera account can be made with this public key, so that one which
   * has it is no reason not to start. Mirrors that cannot search by key leave this unchecked.
   */
  async #tellOfOthersWithKey(account: string, publicKey: Buffer): Promise<void> {
    const found = await this.#ifAnswered(`/api/v1/accounts?account.publickey=${publicKey.toString("hex")}&limit=10`);
    const others = listOf(found, "accounts").filter((other) => other.deleted !== true && other.account !== account);
    if (others.length === 0) return;
    this.#log.error(
      { account, others: others.map((other) => other.account) },
      "a fee payer's key is also the key of other accounts: if one of them is yours, give the fee payer a key of its own",
    );
  }

  /** A fee payer's signature is under every settlement; it should have nothing but HBAR for fees. */
  async #warnOfRiches(account: string): Promise<void> {
    const at = `/api/v1/accounts/${account}`;
    const [tokens, forTokens, forHbar] = await Promise.all([
      this.#ifAnswered(`${at}/tokens?limit=100`),
      this.#ifAnswered(`${at}/allowances/tokens?limit=100`),
      this.#ifAnswered(`${at}/allowances/crypto?limit=100`),
    ]);
    const held = listOf(tokens, "tokens").filter(({ balance }) => balance !== 0);
    if (held.length > 0)
      this.#log.warn({ account, tokens: held.length }, "a fee payer holds tokens; it should hold none");
    const granted = [...listOf(forTokens, "allowances"), ...listOf(forHbar, "allowances")];
    if (granted.length > 0)
      this.#log.warn({ account, allowances: granted.length }, "a fee payer has granted allowances");
  }

  /** For what is worth knowing and no reason not to start. */
  #ifAnswered(path: string): Promise<JsonObject | undefined> {
    return this.#mirror.get(path).catch(() => undefined);
  }

  #fundsOf(account: string): FeePayerFunds {
    const funds = this.#funds.get(account);
    if (!funds) throw new Error(`${account} is no fee payer`);
    return funds;
  }
}

function describe(key: Key): string {
  if (key.kind === "ed25519" || key.kind === "ecdsa") return `${key.kind} ${key.raw.toString("hex")}`;
  return key.kind === "threshold" ? "a list of keys" : "none that can sign";
}

function listOf(body: JsonObject | undefined, name: string): readonly JsonObject[] {
  const list = body?.[name];
  return Array.isArray(list) ? list : [];
}
