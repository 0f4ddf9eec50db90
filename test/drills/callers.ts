import { setTimeout as pause } from "node:timers/promises";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { between } from "../bench/soak/chance.ts";
import type { World } from "../bench/soak/world.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { connectMcp } from "../support/mcp.ts";
import type { Seeded } from "./agents.ts";

/** What one kind of caller saw. */
export interface Tally {
  readonly kind: string;
  calls: number;
  readonly failures: string[];
}

/** Where callers go: to the balancers. */
export interface Places {
  readonly facilitator: string;
  readonly marketplace: string;
  readonly seeded: Seeded;
}

/**
 * Callers with stock clients, each call a new payment or run, and none of them tried again. A call counts as failed when it was
 * not answered, or with anything but success.
 */
export class Callers {
  readonly tallies: readonly Tally[];
  readonly #kinds: Readonly<Record<string, () => Promise<void>>>;
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(world: World, places: Places) {
    const { key, agent, quickTool, slowTool } = places.seeded;
    const buyer = world.buyers[0]!;
    const stock = new HTTPFacilitatorClient({ url: places.facilitator });
    const payment = () => paymentBody(buyer, world.terms) as Promise<never>;
    const paying = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "eip155:84532", client: new ExactEvmScheme(world.buyers[1]!) }],
      spendControls: { allowedAssets: [{ network: "eip155:84532", asset: world.chain.usdc }] },
    });
    const json = { "content-type": "application/json" };
    const input = { text: "hello" };
    this.#kinds = {
      verify: async () => {
        const { paymentPayload, paymentRequirements } = await payment();
        insist((await stock.verify(paymentPayload, paymentRequirements)).isValid, "not valid");
      },
      settle: async () => {
        const { paymentPayload, paymentRequirements } = await payment();
        const answer = await stock.settle(paymentPayload, paymentRequirements);
        insist(answer.success, JSON.stringify(answer));
      },
      "per call": async () => {
        const url = `${places.marketplace}/api/agent/${agent}`;
        await ok(await paying(url, { method: "POST", headers: json, body: JSON.stringify(input) }));
      },
      run: async () => {
        const headers = { ...json, authorization: `Bearer ${key}` };
        const body = JSON.stringify({ agent, input });
        await ok(await fetch(`${places.marketplace}/api/v1/run`, { method: "POST", headers, body }));
      },
      MCP: async () => {
        await callTool(places.marketplace, key, quickTool);
      },
      "MCP stream": async () => {
        const events = await callTool(places.marketplace, key, slowTool);
        insist(events > 0, "nothing was heard while it ran");
      },
    };
    this.tallies = Object.keys(this.#kinds).map((kind) => ({ kind, calls: 0, failures: [] }));
  }

  /** So many at once of each kind. */
  start(ofEach: number): void {
    const callers = this.tallies.flatMap((tally) => Array.from({ length: ofEach }, () => this.#work(tally)));
    this.#working = Promise.all(callers);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  get calls(): number {
    return this.tallies.reduce((sum, { calls }) => sum + calls, 0);
  }

  async #work(tally: Tally): Promise<void> {
    const call = this.#kinds[tally.kind]!;
    while (!this.#stopped) {
      tally.calls += 1;
      await call().catch((error: Error) => {
        tally.failures.push(`${new Date().toISOString()} ${error.message} ${String(error.cause ?? "")}`.slice(0, 400));
      });
      await pause(between(0, 40));
    }
  }
}

/** With a client of its own; answers how many events it heard of while the tool ran. */
async function callTool(url: string, key: string, name: string): Promise<number> {
  const client = await connectMcp(url, key);
  let events = 0;
  try {
    const onprogress = () => {
      events += 1;
    };
    const answer = await client.callTool({ name, arguments: { text: "hello" } }, undefined, { onprogress });
    insist(answer.isError !== true, JSON.stringify(answer));
    return events;
  } finally {
    await client.close();
  }
}

function insist(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

async function ok(response: Response): Promise<void> {
  const text = await response.text();
  insist(response.status === 200 && JSON.parse(text).success === true, `${response.status} ${text}`);
}
