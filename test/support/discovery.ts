import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { documented } from "./documented.ts";
import { edited } from "./edit.ts";
import { type EvmSetting, evmSetting } from "./evm-facilitator.ts";
import { type Buyer, newBuyer, paymentBody, requirementsOf } from "./evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "./facilitator.ts";
import { type PaidResource, quoteV2, startPaidResource } from "./paid-resource.ts";

/** A daemon on a real chain that lists servers of this machine, a resource server to be paid, and an empty catalog before each test. */
export function useDiscovery() {
  let setting: EvmSetting;
  let facilitator: RunningFacilitator & { context: Context };
  let server: PaidResource;
  let buyer: Buyer;

  beforeAll(async () => {
    setting = await evmSetting({ FACILITATOR_DISCOVERY_LOCALHOST: "true" });
    [facilitator, server, buyer] = await Promise.all([
      startFacilitator(setting.variables).then(documented),
      startPaidResource(),
      setting.fundedBuyer(1_000_000_000n),
    ]);
  });

  beforeEach(() =>
    facilitator.context.db.query(
      "truncate discovery_offers, discovery_resources, discovery_accepts, discovery_budgets, listing_days",
    ),
  );

  afterAll(async () => {
    await facilitator?.stop();
    await server?.stop();
    await setting?.stop();
  });

  /** A payment for `path` of the test's resource server that asks to be listed. */
  const paymentFor = async (path: string, changes: Record<string, unknown> = {}, terms = setting.terms) => {
    const body = await paymentBody(buyer, terms);
    const extensions: Record<string, unknown> = { bazaar: bazaar() };
    return edited(
      { ...body, paymentPayload: { ...body.paymentPayload, extensions } },
      {
        "paymentPayload.resource": {
          url: `${server.url}${path}`,
          description: "Weather",
          mimeType: "application/json",
        },
        ...changes,
      },
    );
  };

  const settle = async (body: unknown) => {
    const answer = await facilitator.settle(body);
    expect(answer.body.success).toBe(true);
    return answer;
  };

  const listing = async (query = "") => (await facilitator.get(`/discovery/resources${query}`)).body;
  const listed = async (path: string) =>
    (await listing("?limit=100")).items.find(({ resource }: { resource: string }) => resource === server.url + path);

  /** The catalog works in the background: what must not appear has had its time once a later payment's listing is there. */
  const catalogCaughtUp = async () => {
    const path = `/sentinel-${Math.random()}`;
    const terms = { ...setting.terms, payTo: newBuyer().address };
    server.answer(path, quoteV2([requirementsOf(terms)]));
    await settle(await paymentFor(path, {}, terms));
    await eventually(() => listed(path)).toBeDefined();
  };

  return {
    get setting() {
      return setting;
    },
    get facilitator() {
      return facilitator;
    },
    get server() {
      return server;
    },
    get buyer() {
      return buyer;
    },
    paymentFor,
    settle,
    listing,
    listed,
    catalogCaughtUp,
  };
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
