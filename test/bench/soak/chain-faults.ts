import { setTimeout as sleep } from "node:timers/promises";
import { createTestClient, type Hex, http, publicActions } from "viem";
import type { RpcProxy } from "../../support/rpc-proxy.ts";
import { askLedger } from "../ledger-process.ts";
import { between, chance, pick } from "./chance.ts";
import type { LedgerWitness } from "./verdict.ts";
import type { World } from "./world.ts";

/** Injects faults between the daemons and their chains until `stop`, which ends them all. */
export class ChainFaults {
  /** How often each kind was done. */
  readonly done = new Map<string, number>();
  readonly #world: World;
  readonly #proxy: RpcProxy;
  readonly #witness: LedgerWitness;
  readonly #stopping = new AbortController();
  #working: Promise<unknown> = Promise.resolve();

  constructor(world: World, proxy: RpcProxy, witness: LedgerWitness) {
    this.#world = world;
    this.#proxy = proxy;
    this.#witness = witness;
  }

  start(): void {
    this.#working = Promise.all([
      this.#every(500, 1_500, () => this.#disturbCalls()),
      this.#every(500, 2_000, () => this.#disturbLedger()),
      this.#every(1_000, 3_000, () => this.#dropTransaction()),
      this.#every(40_000, 70_000, () => this.#restartChain()),
      this.#every(50_000, 80_000, () => this.#restartLedger()),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
    this.#proxy.behave(() => "pass");
    await fetch(`${this.#world.ledger.admin}/faults`, { method: "DELETE" });
  }

  async #every(leastMs: number, mostMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await sleep(between(leastMs, mostMs), undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      // A chain that is restarting cannot be disturbed.
      await work().catch(() => this.#count("not possible just then"));
    }
  }

  /** For a moment, some of the calls to the EVM node are lost, held back or refused. */
  async #disturbCalls(): Promise<void> {
    const fate = pick(["pass", "pass", "lose-answer", "lose-call", "refuse", "hold"] as const);
    const share = chance() * 0.3;
    this.#count(`EVM calls: ${fate}`);
    this.#proxy.behave(() => (chance() < share ? fate : "pass"));
  }

  async #disturbLedger(): Promise<void> {
    const counters = ["busy", "unavailable", "dropReply", "resetReply", "loseTx", "throttleAtConsensus"] as const;
    const silent = ["queryUnavailable", "mirrorUnavailable"] as const;
    const fault = pick([...counters, ...silent, "delayMs", "consensusDelayMs", "mirrorLagMs"]);
    // A level stays until it is set again: mostly a low one.
    const value = fault.endsWith("Ms") ? Math.floor(chance() ** 3 * 1_500) : Math.ceil(between(0, 6));
    this.#count(`ledger: ${fault}`);
    await askLedger(this.#world.ledger, "/faults", { [fault]: value });
  }

  /** Drops a transaction from the EVM node's pool, so that those of later nonces wait. */
  async #dropTransaction(): Promise<void> {
    const client = createTestClient({ mode: "anvil", transport: http(this.#world.chain.rpcUrl) }).extend(publicActions);
    const pool = await client.getTxpoolContent();
    const hashes = Object.values(pool.pending).flatMap((byNonce) => Object.values(byNonce).map(({ hash }) => hash));
    if (hashes.length === 0) return;
    await client.dropTransaction({ hash: pick(hashes as Hex[]) });
    this.#count("EVM transaction dropped");
  }

  async #restartChain(): Promise<void> {
    await this.#world.restartChain();
    this.#count("EVM node restarted");
  }

  async #restartLedger(): Promise<void> {
    await this.#witness.look();
    await this.#world.ledger.restart();
    this.#count("ledger restarted");
  }

  #count(kind: string): void {
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
  }
}
