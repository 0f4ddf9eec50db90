import { connect, type Socket } from "node:net";
import type { Express } from "express";
import { expect, vi } from "vitest";
import { createServer } from "../../facilitator/server.ts";
import { connect as connectTo } from "../../shared/postgres.ts";
import { Link } from "../drills/link.ts";
import { asV1, paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { lintDocument } from "../support/lint-document.ts";
import { perFile } from "../support/part.ts";
import { freshDatabase } from "../support/postgres.ts";

/** A body that stops coming is waited for while the other tests run. */
const test = evmTest().extend("stalled", { ...perFile, auto: true }, ({ facilitator }, { onCleanup }) => {
  const { hostname, port } = new URL(facilitator.url);
  const socket = connect(Number(port), hostname);
  onCleanup(async () => void socket.destroy());
  socket.write("POST /verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  return { answer: heardFrom(socket) };
});

test("the document and the routes of the daemon are the same, no more and no less", async ({ facilitator }) => {
  const { paths } = (await facilitator.get("/openapi.json")).body;
  const inDocument = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method} ${path}`),
  );
  expect(inDocument.toSorted()).toEqual(routesOf(createServer(facilitator.context)).toSorted());
});

test("it is OpenAPI 3.1 that a linter has nothing against, every reference in it leads somewhere, and every operation has a name of its own", async ({
  facilitator,
}) => {
  const { body } = await facilitator.get("/openapi.json");
  expect(body.openapi).toBe("3.1.0");
  expect(await lintDocument(body)).toEqual([]);
  const references = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(references.length).toBeGreaterThan(10);
  for (const name of references) expect(body.components.schemas).toHaveProperty(name as string);
  expect(JSON.stringify(body)).not.toContain("$defs");
  const names = operationsOf(body.paths).map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z][a-zA-Z]+$/);
});

test("every kind of answer is as documented: good, refused, malformed, not there", async ({ setting, facilitator }) => {
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

test("it is written once, and sent compressed, with a tag by which it is not sent again", async ({ facilitator }) => {
  const get = (headers: Record<string, string>) => fetch(`${facilitator.url}/openapi.json`, { headers });
  const answer = await get({ "accept-encoding": "br" });
  expect(answer.headers.get("content-encoding")).toBe("br");
  const written = vi.spyOn(JSON, "stringify");
  expect(await (await get({ "accept-encoding": "gzip" })).json()).toEqual(await answer.json());
  const documents = written.mock.calls.filter(([value]) => value?.openapi !== undefined);
  written.mockRestore();
  expect(documents).toEqual([]);
  expect((await get({ "if-none-match": String(answer.headers.get("etag")) })).status).toBe(304);
});

test("bodies of both versions satisfy the documented request", async ({ facilitator, setting }) => {
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

test("every operation says in sentences what it does, which chapter it belongs to and who may call", async ({
  facilitator,
}) => {
  const { tags, components, paths } = (await facilitator.get("/openapi.json")).body;
  for (const { tags: chapters, summary, description, security } of operationsOf(paths)) {
    expect(tags.map(({ name }: { name: string }) => name)).toContain(chapters[0]);
    for (const text of [summary, description]) expect(text).toMatch(/^[A-Z].*[.?]$/s);
    const schemes = security.flatMap((way: object) => Object.keys(way));
    expect(Object.keys(components.securitySchemes)).toEqual(expect.arrayContaining(schemes));
  }
});

test("every example request is well-formed for the daemon, and every example answer is as its schema says", async ({
  facilitator,
}) => {
  const { paths, components } = (await facilitator.get("/openapi.json")).body;
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", components });
  let answers = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(operations as Record<string, Json>)) {
      const example = requestBody?.content["application/json"].example;
      if (method === "post") expect((await facilitator.post(path, example)).status, path).toBe(200);
      for (const { content } of Object.values(responses) as Json[]) {
        if (!content?.["application/json"]) continue;
        const { schema, example } = content["application/json"];
        const validate = ajv.compile(
          JSON.parse(JSON.stringify(schema).replaceAll("#/components", "document#/components")),
        );
        expect(validate(example), `${path} ${JSON.stringify(validate.errors)}`).toBe(true);
        answers += 1;
      }
    }
  }
  expect(answers).toBeGreaterThan(40);
  const { parameters } = paths["/payments/{transaction}"].get;
  const [named] = parameters[0].schema.examples;
  expect((await facilitator.get(`/payments/${named}`)).body.error).toMatch(/^No payment is known/);
});

/** Of every endpoint in the same words: provoked below, and 429 in limits.test.ts. */
const usual = ["408", "429", "500", "503"];

test("every example of a refusal is what the daemon answers", async ({ facilitator }) => {
  const { paths } = (await facilitator.get("/openapi.json")).body;
  const provoked: string[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations as Record<string, Json>)) {
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        if (Number(status) < 400 || usual.includes(status)) continue;
        const { example } = content["application/json"];
        const name = `${method} ${path} ${status}`;
        const answer = await provoke(facilitator.url, { method, path, status, ...operation });
        expect([answer.status, answer.body], name).toEqual([Number(status), example]);
        provoked.push(name);
      }
    }
  }
  expect(provoked.length).toBeGreaterThan(20);
});

const inTheDatabase = ["/verify", "/settle", "/release"];

test("every example of a refusal by a daemon with a fault, or whose database is away, is what it answers", async ({
  setting,
}) => {
  const ownDatabase = new URL(await freshDatabase("facilitator"));
  const link = await Link.to(Number(ownDatabase.port));
  const db = connectTo(ownDatabase.href, { poolMax: 1, applicationName: "test" });
  ownDatabase.port = String(link.port);
  const daemon = await startFacilitator({ ...setting.variables, FACILITATOR_DATABASE_URL: ownDatabase.href });
  try {
    const { paths } = (await daemon.get("/openapi.json")).body;
    const answers = (status: number) =>
      Promise.all(
        inTheDatabase.map(async (path) => {
          const { status: answered, body } = await provoke(daemon.url, {
            method: "post",
            path,
            status,
            ...paths[path].post,
          });
          return [path, answered, body];
        }),
      );
    const documented = (status: number) =>
      inTheDatabase.map((path) => {
        return [path, status, paths[path].post.responses[status].content["application/json"].example];
      });
    await db.query("alter table payments rename to mislaid_payments");
    await db.query("alter table payment_holds rename to mislaid_holds");
    expect(await answers(500)).toEqual(documented(500));
    link.stop();
    expect(await answers(503)).toEqual(documented(503));
  } finally {
    link.stop();
    await db.end();
    await daemon.stop();
  }
});

test("the example of a body that stops coming is what the daemon answers", async ({ facilitator, stalled }) => {
  const { paths } = (await facilitator.get("/openapi.json")).body;
  const { example } = paths["/verify"].post.responses[408].content["application/json"];
  expect(await stalled.answer).toEqual({ status: 408, body: example });
});

/** Does of an operation what its documented refusal of this status is about. */
async function provoke(url: string, { method, path, status, parameters = [], requestBody }: Json) {
  const address = new URL(path.replace("{transaction}", parameters[0]?.schema.examples?.[0]), url);
  const headers: Record<string, string> = { "content-type": "application/json" };
  let body: string | undefined;
  if (method === "post") {
    const example = structuredClone(requestBody.content["application/json"].example);
    if (status === "400") delete (example.paymentRequirements ?? example)[example.holdId ? "holdId" : "amount"];
    if (status === "401") headers.authorization = "Bearer unknown";
    body = status === "413" ? "x".repeat(70_000) : JSON.stringify(example);
  } else if (status === "400") {
    const asked = parameters.find((parameter: Json) => parameter.in === "query");
    if (!asked) return askAsTwoHosts(address);
    for (const value of ["a", "b"]) address.searchParams.append(asked.name, value);
  } else if (status === "404" && path === "/payments") {
    const [payer, nonce] = [`0x${"1b".repeat(20)}`, `0x${"0".repeat(64)}`];
    for (const [name, value] of Object.entries({ network: "eip155:84532", payer, nonce })) {
      address.searchParams.set(name, value);
    }
  }
  const response = await fetch(address, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, body: await response.json() };
}

async function askAsTwoHosts({ hostname, port, pathname }: URL) {
  const socket = connect(Number(port), hostname);
  socket.end(`GET ${pathname} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`);
  return heardFrom(socket);
}

/** The status and the body of what comes until the connection closes. */
async function heardFrom(socket: Socket) {
  const answer = (await socket.setEncoding("utf8").toArray()).join("");
  return {
    status: Number(answer.split(" ")[1]),
    body: JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1)),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

function operationsOf(paths: Json): readonly Json[] {
  return Object.values(paths).flatMap((path) => Object.values(path as Json));
}

/** `get /payments/{transaction}`, as Express would match it. */
function routesOf(app: Express): readonly string[] {
  return app.router.stack.flatMap(({ route }) => {
    if (!route) return [];
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const methods = new Set(route.stack.map(({ method }) => method));
    return [...methods].map((method) => `${method} ${path}`);
  });
}
