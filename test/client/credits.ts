import { Resvg } from "@resvg/resvg-js";
import { describe, expect } from "vitest";
import {
  AgentMarketplace,
  AuthenticationError,
  BadRequestError,
  InvalidValueError,
  NotFoundError,
  OutcomeUnknownError,
  PaymentRequiredError,
  RateLimitError,
  type Retry,
  RunFailedError,
} from "../../client/agent-marketplace.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { withAccount } from "../support/browser.ts";
import { echoAgent, until } from "../support/marketplace.ts";
import { creditsOf, test } from "./setting.ts";

const input = { text: "hello" };
/** The first answer is lost, all others come. */
const loseFirst = () => {
  let answers = 0;
  return () => (answers++ === 0 ? "cut" : "pass") as "cut" | "pass";
};

describe("a run paid with credits", () => {
  test("answers its output, and is charged what it costs", async ({ paid, client }) => {
    const before = await creditsOf(paid);
    const run = await client().run({ agent: paid.address, input, max_credits: 5 });
    expect(run).toMatchObject({
      success: true,
      output: { kind: "text" },
      credits_used: 5,
      credits_remaining: before - 5,
    });
    expect(await client().runDetail(run.run_id)).toMatchObject({ agent: paid.address, output: run.output });
  });

  test("whose answer is lost is asked for again by itself, and is charged once", async ({ paid, proxy, client }) => {
    const before = await creditsOf(paid);
    const retries: Retry[] = [];
    proxy.behave(loseFirst());
    const run = await client({ onRetry: (why) => retries.push(why) }).run({ agent: paid.address, input });
    expect(retries).toEqual([{ attempt: 1, waitMs: expect.any(Number), status: undefined }]);
    expect(run.credits_remaining).toBe(before - 5);
    expect(await creditsOf(paid)).toBe(before - 5);
  });

  test("that took too long is asked for again under the same name, and is charged once", async ({
    paid,
    proxy,
    client,
  }) => {
    const before = await creditsOf(paid);
    proxy.behave(() => "stall");
    const onRetry = () => proxy.behave(() => "pass");
    const run = await client({ timeoutMs: 1_000, maxRetries: 60, onRetry }).run({ agent: paid.address, input });
    expect(run.success).toBe(true);
    expect(await creditsOf(paid)).toBe(before - 5);
  });

  test("may take however long its caller says, also without end, and in parts of a millisecond; not no time", async ({
    paid,
    client,
  }) => {
    const before = await creditsOf(paid);
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 64_099.99999999999, 2 ** 53]) {
      expect((await client().run({ agent: paid.address, input }, { timeoutMs })).success, `${timeoutMs}`).toBe(true);
      expect((await client({ timeoutMs }).balance()).credits).toBeGreaterThan(0);
    }
    const asked = paid.marketplace.model.asked();
    for (const timeoutMs of [0, -1, Number.NaN]) {
      expect(() => client({ timeoutMs }), `${timeoutMs}`).toThrow(TypeError);
      const refused = client().run({ agent: paid.address, input }, { timeoutMs });
      await expect(refused, `${timeoutMs}`).rejects.toThrow(TypeError);
    }
    expect(paid.marketplace.model.asked()).toBe(asked);
    expect(await creditsOf(paid)).toBe(before - 15);
  });

  test("that its caller gave up is not known to be charged, and its name fetches the result", async ({
    paid,
    proxy,
    client,
  }) => {
    const before = await creditsOf(paid);
    const asked = paid.marketplace.model.asked();
    const stop = new AbortController();
    proxy.behave(() => "stall");
    const given = client().run({ agent: paid.address, input }, { signal: stop.signal });
    const thrown = given.catch((error: unknown) => error);
    await until(() => paid.marketplace.model.asked() > asked);
    stop.abort();
    const error = await thrown;
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      charged: "unknown",
      idempotencyKey: expect.any(String),
      cause: { name: "AbortError" },
    });
    proxy.behave(() => "pass");
    const { idempotencyKey } = error as OutcomeUnknownError;
    const run = await client().run({ agent: paid.address, input }, { idempotencyKey });
    expect(run.credits_remaining).toBe(before - 5);
    expect(await creditsOf(paid)).toBe(before - 5);
    expect(paid.marketplace.model.asked()).toBe(asked + 1);
  });

  test("is not sent at all once its signal was aborted", async ({ paid, client }) => {
    const asked = client().run({ agent: paid.address, input }, { signal: AbortSignal.abort(new Error("no")) });
    await expect(asked).rejects.toThrow("no");
  });

  test("that fails throws, and costs nothing", async ({ paid, client }) => {
    const before = await creditsOf(paid);
    paid.marketplace.model.injectFault({ status: 400 });
    const error = await client()
      .run({ agent: paid.address, input })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({ charged: false, runId: expect.stringMatching(/^run_/) });
    expect(await creditsOf(paid)).toBe(before);
  });

  test("that fails, and of whose record there is no answer, is not known to be free of charge", async ({
    paid,
    proxy,
    client,
  }) => {
    paid.marketplace.model.injectFault({ status: 400 });
    let answers = 0;
    proxy.behave(() => (answers++ === 0 ? "pass" : "cut"));
    const error = await client({ maxRetries: 0 })
      .run({ agent: paid.address, input })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ charged: "unknown", idempotencyKey: expect.any(String) });
  });

  test("whose name its caller gave may have been charged before, where a refusal comes before the name is looked up", async ({
    paid,
    client,
  }) => {
    const refusalOf = (idempotencyKey?: string) =>
      client({ key: "amk_no" })
        .run({ agent: paid.address, input }, { idempotencyKey })
        .catch((thrown: unknown) => thrown);
    expect(await refusalOf("mine")).toMatchObject({ status: 401, charged: "unknown", idempotencyKey: "mine" });
    expect(await refusalOf()).toMatchObject({ status: 401, charged: false });
  });

  test("dearer than agreed to is refused, and costs nothing", async ({ paid, client }) => {
    const before = await creditsOf(paid);
    const error = await client()
      .run({ agent: paid.address, input, max_credits: 4 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentRequiredError);
    expect(error).toMatchObject({ status: 402, creditsRequired: 5, limitSource: "request", charged: false });
    expect(await creditsOf(paid)).toBe(before);
  });
});

test("a refusal is of the class that its status has, and says the field and the request's id", async ({
  paid,
  client,
}) => {
  const refusalOf = (made: Promise<unknown>) => made.then(() => undefined).catch((error: unknown) => error);
  const tooLong = await refusalOf(client().run({ agent: paid.address, input: { text: "x".repeat(51) } }));
  expect(tooLong).toBeInstanceOf(InvalidValueError);
  expect(tooLong).toMatchObject({ status: 422, code: "invalid_value", field: "text", requestId: expect.any(String) });
  expect(await refusalOf(client().run({ agent: paid.address, input: {} }))).toBeInstanceOf(BadRequestError);
  expect(await refusalOf(client().detail("no/agent"))).toBeInstanceOf(NotFoundError);
  expect(await refusalOf(client({ key: "amk_no" }).balance())).toBeInstanceOf(AuthenticationError);
});

test("a call that a limit turned away is sent again when the service says, and not before", async ({
  paid,
  client,
}) => {
  const { context } = paid.marketplace;
  const { token: key } = await createKey(context.db, {
    accountId: paid.market.buyer.id,
    name: "slow",
    rateLimitPerMinute: 1,
  });
  const stop = new AbortController();
  const retries: Retry[] = [];
  const onRetry = (why: Retry) => {
    retries.push(why);
    stop.abort(new Error("seen"));
  };
  await client({ key }).balance();
  const refused = await client({ key, maxRetries: 0 })
    .balance()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimitError);
  expect((refused as RateLimitError).retryAfter).toBeGreaterThan(1);
  await expect(client({ key, onRetry }).balance({ signal: stop.signal })).rejects.toThrow("seen");
  expect(retries).toEqual([{ attempt: 1, status: 429, waitMs: expect.any(Number) }]);
  expect(retries[0]!.waitMs).toBeGreaterThan(1_000);
});

test("lists are read to their end, page after page, each row once", async ({ paid, client }) => {
  const { context } = paid.marketplace;
  for (const slug of ["one", "two", "three", "four"]) await publishAgent(context, paid.market.creator, slug, echoAgent);
  const listed: string[] = [];
  const agents = client().list({ creator: paid.market.creator.handle, limit: 2 });
  for await (const { agent } of agents) listed.push(agent.split("/")[1] as string);
  expect(listed.toSorted()).toEqual(["echo", "four", "one", "three", "two"]);
  expect(await agents.first()).toMatchObject({ total: 5, limit: 2, agents: { length: 2 } });
  for (let n = 0; n < 3; n += 1) await client().run({ agent: paid.address, input });
  const runs = new Set<string>();
  let rows = 0;
  for await (const { run_id } of client().runs({ limit: 2 })) rows += Number(runs.add(run_id).size > 0);
  expect(rows).toBe(runs.size);
  expect(rows).toBeGreaterThanOrEqual(3);
});

test("a picture in a File is traced once though the answer is lost; a path that is not there is not sent", async ({
  paid,
  proxy,
  client,
}) => {
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="9"/></svg>';
  const image = new File([new Uint8Array(new Resvg(drawing).render().asPng())], "dot.png");
  const before = await creditsOf(paid);
  proxy.behave(loseFirst());
  const { svg } = await client().svg.vectorize({ image, colors: 2, max_credits: 1 });
  expect(svg).toMatch(/^<svg/);
  await expect(client().svg.vectorize({ image: { path: "/no/such.png" } })).rejects.toThrow("ENOENT");
  expect(await creditsOf(paid)).toBe(before - 1);
});

test("a session makes, changes and revokes keys", async ({ paid, client }) => {
  const { browser } = await withAccount(paid.marketplace);
  const { keys } = client({ session: browser.cookie });
  const { id, token } = await keys.create({ name: "made by the client" });
  expect(await client({ key: token }).balance()).toMatchObject({ credits: 0, key: { name: "made by the client" } });
  await keys.change(id, { max_credits_per_day: 7 });
  expect((await keys.list()).keys).toMatchObject([{ id, max_credits_per_day: 7 }]);
  await publishAgent(paid.marketplace.context, paid.market.creator, "gift", { ...echoAgent, price_credits: 0 });
  const { run_id } = await client({ key: token }).run({ agent: `${paid.market.creator.handle}/gift`, input });
  const calls: unknown[] = [];
  for await (const call of keys.calls(id)) calls.push(call);
  expect(calls).toMatchObject([{ run_id }]);
  await keys.revoke(id);
  await expect(client({ key: token }).balance()).rejects.toBeInstanceOf(AuthenticationError);
  await expect(client().keys.list()).rejects.toBeInstanceOf(AuthenticationError);
});

test("files are listed, hidden and deleted by the key of their owner", async ({ paid, client }) => {
  const made = { bytes: Buffer.from("<svg/>"), kind: "svg", ownerId: paid.market.buyer.id } as const;
  const name = (await paid.marketplace.context.tools.files.keep(made)).split("/").at(-1) ?? "";
  const { files } = client();
  expect((await files.list({ limit: 1 })).files).toMatchObject([{ name, hidden_at: null }]);
  expect(await files.hide(name)).toEqual({ name, hidden: true });
  expect(await files.show(name)).toEqual({ name, hidden: false });
  expect(await files.delete(name)).toEqual({ name, deleted: true });
  expect((await files.list()).files.map((file) => file.name)).not.toContain(name);
  await expect(files.delete("none.svg")).rejects.toBeInstanceOf(NotFoundError);
});

test("a client without an address, or of a page with a key, is not made", () => {
  expect(() => new AgentMarketplace({ key: "amk_x" })).toThrow("baseUrl");
  Object.assign(globalThis, { document: {} });
  try {
    expect(() => new AgentMarketplace({ key: "amk_x", baseUrl: "https://a.example" })).toThrow("page");
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
});
