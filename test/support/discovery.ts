import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { documented } from "./documented.ts";
import { edited } from "./edit.ts";
import { type EvmSetting, evmSetting } from "./evm-facilitator.ts";
import { type Buyer, newBuyer, paymentBody, requirementsOf } from "./evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "./facilitator.ts";
import { type Answerer, type PaidResource, quoteV2, startPaidResource } from "./paid-resource.ts";

/** A daemon on a real chain that lists servers of this machine, a resource server to be paid, and an empty catalog before each test. */
export function useDiscovery(): DiscoverySetting {
  const setting = new DiscoverySetting();
  beforeAll(setting.start);
  beforeEach(setting.empty);
  afterAll(setting.stop);
  return setting;
}

class DiscoverySetting {
  setting!: EvmSetting;
  facilitator!: RunningFacilitator & { context: Context };
  server!: PaidResource;
  buyer!: Buyer;

  start = async () => {
    this.setting = await evmSetting({ FACILITATOR_DISCOVERY_LOCALHOST: "true" });
    [this.facilitator, this.server, this.buyer] = await Promise.all([
      startFacilitator(this.setting.variables).then(documented),
      startPaidResource(),
      this.setting.fundedBuyer(1_000_000_000n),
    ]);
  };

  empty = async () => {
    await this.facilitator.context.db.query(
      "truncate discovery_offers, discovery_resources, discovery_accepts, discovery_budgets, listing_days, listing_wallets",
    );
  };

  stop = async () => {
    await this.facilitator?.stop();
    await this.server?.stop();
    await this.setting?.stop();
  };

  /** A payment for `path` of the test's resource server that asks to be listed. */
  paymentFor = async (path: string, changes: Record<string, unknown> = {}, terms = this.setting.terms) => {
    const body = await paymentBody(this.buyer, terms);
    const extensions: Record<string, unknown> = { bazaar: bazaar() };
    const resource = { url: `${this.server.url}${path}`, ...words };
    return edited(
      { ...body, paymentPayload: { ...body.paymentPayload, extensions } },
      { "paymentPayload.resource": resource, ...changes },
    );
  };

  settle = async (body: unknown) => {
    const answer = await this.facilitator.settle(body);
    expect(answer.body.success).toBe(true);
    return answer;
  };

  listing = async (query = "") => (await this.facilitator.get(`/discovery/resources${query}`)).body;

  listed = async (path: string) => {
    const { items } = await this.listing("?limit=100");
    return items.find(({ resource }: { resource: string }) => resource === this.server.url + path);
  };

  /** The catalog works in the background: what must not appear has had its time once a later payment's listing is there. */
  catalogCaughtUp = async () => {
    const path = `/sentinel-${Math.random()}`;
    const terms = { ...this.setting.terms, payTo: newBuyer().address };
    this.server.answer(path, announcing([requirementsOf(terms)]));
    await this.settle(await this.paymentFor(path, {}, terms));
    await eventually(() => this.listed(path)).toBeDefined();
  };
}

const words = { description: "Weather", mimeType: "application/json" };

/** The 402 of a resource that agrees to be listed, in these words. */
export function announcing(
  accepts: readonly object[],
  about: object = words,
  declaration: unknown = bazaar(),
): Answerer {
  return quoteV2(accepts, { resource: about, extensions: { bazaar: declaration } });
}

export function bazaar(method = "GET") {
  return {
    info: { input: { type: "http", method, queryParams: { city: "Paris" } } },
    schema: { type: "object", properties: { input: { type: "object" } }, required: ["input"] },
  };
}

export function eventually<T>(read: () => Promise<T>): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read);
}

/** What EXTENSION-RESPONSES says. */
export function reportIn(headers: Headers): unknown {
  const report = headers.get("extension-responses");
  return report === null ? undefined : JSON.parse(Buffer.from(report, "base64").toString());
}
