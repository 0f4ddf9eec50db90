import { setTimeout } from "node:timers/promises";
import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import { inTurn } from "../../signing/in-turn.ts";
import { openKey } from "../../signing/keys.ts";
import { eachOf, FeePayerRounds } from "../fee-payer-rounds.ts";
import type { FeePayerBalance, SchemeNeeds } from "../scheme.ts";
import { SignerLeases } from "../signer-leases.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { EvmFeePayer } from "./fee-payer.ts";
import { forgetFinal } from "./forget-final.ts";
import { GasPrices } from "./gas-prices.ts";
import type { Hex } from "./hex.ts";

/** The addresses that pay network fees on one EVM network. */
export class EvmFeePayers {
  readonly all: readonly EvmFeePayer[];
  readonly #config: EvmConfig;
  readonly #chain: EvmChain;
  readonly #db: Database;
  readonly #log: Log;
  readonly #gasPrices: GasPrices;
  readonly #leases: SignerLeases;
  readonly #rounds: FeePayerRounds;
  /** Never throws. */
  readonly lookForKeys: () => Promise<void>;

  constructor(config: EvmConfig, chain: EvmChain, needs: SchemeNeeds) {
    this.#config = config;
    this.#chain = chain;
    this.#db = needs.db;
    this.#log = needs.log;
    const addresses = config.signers.map(({ address }) => address);
    this.#leases = new SignerLeases(config.network, addresses, needs);
    this.#gasPrices = new GasPrices(chain, config.feePerGasMaxWei);
    const parts = { ...needs, chain, leases: this.#leases, gasPrices: this.#gasPrices };
    this.all = config.signers.map(({ address, key }) => {
      return new EvmFeePayer({ address, key: openKey(key, needs) }, config, parts);
    });
    const members = this.all.map((payer) => ({
      id: payer.address,
      funds: payer.funds,
      signs: () => payer.signs,
      read: () => payer.readBalance(),
    }));
    this.#rounds = new FeePayerRounds(members, this.#leases, async () =>
      this.#gasPrices.note(await chain.latestBlock()),
    );
    this.lookForKeys = inTurn(
      this.all.map((payer) => ({ isThere: () => payer.signs, look: () => payer.lookForKey() })),
    );
  }

  get addresses(): readonly Hex[] {
    return this.all.map(({ address }) => address);
  }

  get balances(): readonly FeePayerBalance[] {
    return this.all.map(({ balance }) => balance);
  }

  get isGasTooDear(): boolean {
    return this.#gasPrices.isTooHigh;
  }

  /** The fee payers that this copy looks after. */
  get leased(): readonly Hex[] {
    return this.#leased.map(({ address }) => address);
  }

  get #leased(): readonly EvmFeePayer[] {
    return this.all.filter(({ isLeased }) => isLeased);
  }

  /** Compares the keys with their addresses, agrees with the chain on nonces and reads the balances. */
  async start(): Promise<void> {
    await this.#checkKeys();
    await eachOf(this.all, (feePayer) => feePayer.synchronizeNonce());
    await this.#rounds.start();
  }

  /** A KMS that is slow does not hold up the start: keys that were not compared by then are looked for later. */
  async #checkKeys(): Promise<void> {
    const checks = eachOf(this.all, (feePayer) => feePayer.checkKey());
    checks.catch(() => {});
    await Promise.race([checks, setTimeout(keysAnswerWithinMs, undefined, { ref: false })]);
  }

  renewLeases(): Promise<void> {
    return this.#rounds.renewLeases();
  }

  async readBalances(): Promise<void> {
    await this.#rounds.readBalances();
    await this.#gasPrices.readWhileTooHigh();
  }

  maintainNonces(): Promise<void> {
    return eachOf(this.#leased, (feePayer) => feePayer.maintainNonces());
  }

  /** Forgets the signed bytes of final payments. */
  forgetSignedBytes(): Promise<void> {
    const needs = { chain: this.#chain, config: this.#config, db: this.#db, log: this.#log };
    return eachOf(this.leased, (address) => forgetFinal(address, this.#config.network, needs));
  }

  handOver(): Promise<void> {
    return this.#leases.handOver();
  }
}

const keysAnswerWithinMs = 5_000;
