import type { Express } from "express";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { createServer } from "../../facilitator/server.ts";
import { documented } from "../support/documented.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { asV1, paymentBody } from "../support/evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "../support/facilitator.ts";

let setting: EvmSetting;
let facilitator: RunningFacilitator & { context: Context };

beforeAll(async () => {
  setting = await evmSetting();
  facilitator = documented(await startFacilitator(setting.variables));
});

afterAll(async () => {
  await facilitator?.stop();
  await setting?.stop();
});

test("the document and the routes of the daemon are the same, no more and no less", async () => {
  const { paths } = (await facilitator.get("/openapi.json")).body;
  const inDocument = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method} ${path}`),
  );
  expect(inDocument.toSorted()).toEqual(routesOf(createServer(facilitator.context)).toSorted());
});

test("it is OpenAPI 3.1, every reference in it leads somewhere, and every operation has a name of its own", async () => {
  const { body } = await facilitator.get("/openapi.json");
  expect(body.openapi).toBe("3.1.0");
  const references = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(references.length).toBeGreaterThan(10);
  for (const name of references) expect(body.components.schemas).toHaveProperty(name as string);
  expect(JSON.stringify(body)).not.toContain("$defs");
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
  const operations = Object.values(body.paths).flatMap((path) => Object.values(path as any)) as any[];
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z][a-zA-Z]+$/);
});

test("every kind of answer is as documented: good, refused, malformed, not there", async () => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;
  expect(await statusOf(facilitator.verify(body))).toBe(200);
  expect(await statusOf(facilitator.settle(body))).toBe(200);
  expect(await statusOf(facilitator.settle(asV1(body)))).toBe(200);
  expect(await statusOf(facilitator.verify({ ...body, x402Version: 1 }))).toBe(200);
  for (const verb of [facilitator.verify, facilitator.settle]) {
    expect(await statusOf(verb("{"))).toBe(400);
    expect(await statusOf(verb({}))).toBe(400);
    expect(await statusOf(verb("x".repeat(70_000)))).toBe(413);
  }
  for (const path of ["/supported", "/health", "/stats", "/transactions", "/discovery/resources", "/openapi.json"]) {
    expect(await statusOf(facilitator.get(path))).toBe(200);
  }
  expect(await statusOf(facilitator.get("/discovery/search?query=x"))).toBe(200);
});

test("bodies of both versions satisfy the documented request", async () => {
  const { body } = await facilitator.get("/openapi.json");
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", components: body.components });
  const validate = ajv.compile({ $ref: "document#/components/schemas/PaymentBody" });
  const payment = await paymentBody(await setting.fundedBuyer(), setting.terms);
  expect(validate(payment)).toBe(true);
  expect(validate(asV1(payment))).toBe(true);
  expect(validate({ ...payment, paymentRequirements: {} })).toBe(false);
});

/** `get /payments/{transaction}`, as Express would match it. */
function routesOf(app: Express): readonly string[] {
  return app.router.stack.flatMap(({ route }) => {
    if (!route) return [];
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const methods = new Set(route.stack.map(({ method }) => method));
    return [...methods].map((method) => `${method} ${path}`);
  });
}
