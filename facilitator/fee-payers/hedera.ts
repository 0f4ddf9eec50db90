import type { Log } from "../../shared/log.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { JsonObject } from "../../shared/x402.ts";
import type { HederaConfig } from "../config.ts";
import { spentToday } from "../limits/fee-budget.ts";
import type { Key, Signature } from "../schemes/exact-hedera/keys.ts";
import type { Mirror } from "../schemes/exact-hedera/mirror.ts";
import { readSigner, type Signer } from "../schemes/exact-hedera/signer.ts";
import { type FeePayerBalance, NetworkAway } from "../schemes/scheme.ts";

/** The accounts that pay network fees on one Hedera network, and their keys. */
export class HederaFeePayers {
  readonly accounts: readonly string[];
  readonly #config: HederaConfig;
  readonly #mirror: Mirror;
  readonly #db: Queryable;
  readonly #log: Log;
  readonly #signers = new Map<string, Signer>();
  readonly #balances = new Map<string, bigint>();
  readonly #spentToday = new Map<string, bigint>();
  /** Those whom a node or the ledger told that they cannot pay, until a balance is read that says otherwise. */
  readonly #lacking = new Set<string>();
  readonly #readAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(config: HederaConfig, mirror: Mirror, { db, log }: { db: Queryable; log: Log }) {
    this.#config = config;
    this.#mirror = mirror;
    this.#db = db;
    this.#log = log;
    this.accounts = config.feePayers.map(({ accountId }) => accountId);
  }

  sign(account: string, bodyBytes: Buffer): Signature {
    const signer = this.#signers.get(account);
    if (!signer) throw new Error(`no key is loaded for fee payer ${account}`);
    return signer.sign(bodyBytes);
  }

  get balances(): readonly FeePayerBalance[] {
    return this.accounts.map((account) => this.balanceOf(account));
  }

  balanceOf(feePayer: string): FeePayerBalance {
    const balance = this.#balances.get(feePayer);
    const { balanceLow, balanceEmpty, dailyBudget } = this.#config;
    const overBudget = dailyBudget > 0n && (this.#spentToday.get(feePayer) ?? 0n) >= dailyBudget;
    return {
      feePayer,
      balance,
      unit: "HBAR",
      decimals: 8,
      low: balance !== undefined && balance < balanceLow,
      empty: this.#lacking.has(feePayer) || (balance !== undefined && (balance < balanceEmpty || overBudget)),
    };
  }

  /** The ledger would not let this account pay. */
  noteEmpty(account: string): void {
    this.#log.error({ account, network: this.#config.network }, "a fee payer has no HBAR left for network fees");
    this.#lacking.add(account);
    this.#readAt.set(account, Date.now());
  }

  /** Loads the keys and compares them with the ledger. Answers every problem found; then reads balances every 30 s, sooner one that is away or empty. */
  async start(): Promise<readonly string[]> {
    const problems = await Promise.all(this.#config.feePayers.map(({ accountId }) => this.#load(accountId)));
    await this.#readBalances();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#readBalances(), balanceEveryMs);
    return problems.flat();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #load(account: string): Promise<readonly string[]> {
    const secret = this.#config.feePayers.find(({ accountId }) => accountId === account)?.privateKey.reveal() ?? "";
    let signer: Signer;
    try {
      signer = readSigner(secret);
    } catch (error) {
      return [`fee payer ${account}: ${(error as Error).message}`];
    }
    this.#signers.set(account, signer);
    try {
      return await this.#compare(account, signer);
    } catch (error) {
      if (error instanceof NetworkAway) throw error;
      return [`fee payer ${account} could not be checked: ${(error as Error).message}`];
    }
  }

  /** G18: with another key than the account's, every settlement would fail. */
  async #compare(account: string, { kind, publicKey }: Signer): Promise<readonly string[]> {
    const found = await this.#mirror.account(account, 0);
    if (!found || found.deleted) return [`fee payer ${account} does not exist on ${this.#config.network}`];
    const { key } = found;
    if (key.kind !== kind || !key.raw.equals(publicKey)) {
      const given = `${kind} ${publicKey.toString("hex")}`;
      return [`fee payer ${account}: the key given is for ${given}, the account's key is ${describe(key)}`];
    }
    await this.#warnOfRiches(account);
    return this.#othersWithKey(account, publicKey);
  }

  /**
   * Authority on this ledger is by key: whatever another account with the same key owns could be moved by a
   * transaction the fee payer signs. Mirrors that cannot search by key leave this unchecked.
   */
  async #othersWithKey(account: string, publicKey: Buffer): Promise<readonly string[]> {
    const found = await this.#ifAnswered(`/api/v1/accounts?account.publickey=${publicKey.toString("hex")}&limit=10`);
    const others = listOf(found, "accounts").filter((other) => other.deleted !== true && other.account !== account);
    if (others.length === 0) return [];
    const names = others.map((other) => other.account).join(", ");
    return [`fee payer ${account}: its key is also the key of ${names}; give the fee payer a key of its own`];
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

  async #readBalances(): Promise<void> {
    await Promise.all(
      this.accounts.map(async (account) => {
        const { balance, empty } = this.balanceOf(account);
        const askedAt = Date.now();
        if (askedAt - (this.#readAt.get(account) ?? 0) < (balance === undefined || empty ? readSoonMs : readEveryMs))
          return;
        this.#readAt.set(account, askedAt);
        const found = await this.#mirror.account(account, 0).catch(() => undefined);
        if (!found) return void this.#balances.delete(account);
        this.#balances.set(account, found.balance);
        if (this.#readAt.get(account) === askedAt) this.#lacking.delete(account);
        if (this.#config.dailyBudget === 0n) return;
        const { network } = this.#config;
        await spentToday(this.#db, network, account, found.balance).then(
          (today) => this.#spentToday.set(account, today),
          (err) => this.#log.warn({ err, network }, "what a fee payer has spent today could not be added up"),
        );
      }),
    );
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

const balanceEveryMs = 2_500;
const readEveryMs = 29_000;
const readSoonMs = 4_000;
