import { describe, expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { readConfig } from "../../marketplace/config.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, run, seedMarket, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";

const env = {
  LLM_MODELS: "small=0:500:200,large=7:2000:1000,vendor/odd:free=0:100:100",
  LLM_MODEL: "small",
  IMAGES_MODELS: "painter=4:2:100",
};

const test = marketTest({ env });

describe("the operator's list of models", () => {
  const problems = (market: TestMarketplace, more: Record<string, string>) => {
    try {
      readConfig({ ...market.environment, ...more });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  test.for([
    ["a model without its cost", { LLM_MODELS: "small" }, "LLM_MODELS must list <model>=<credits>:<max_tokens>:"],
    ["no bound of tokens", { LLM_MODELS: "small=1:0:100" }, '"small=1:0:100" is none'],
    ["a cost below nothing", { LLM_MODELS: "small=-1:10:100" }, '"small=-1:10:100" is none'],
    ["half a credit", { IMAGES_MODELS: "painter=0.5:1:100" }, '"painter=0.5:1:100" is none'],
    ["a model twice", { LLM_MODELS: "small=1:1:1,small=2:1:1" }, 'LLM_MODELS lists "small" twice'],
    [
      "a usual model without a cost",
      { LLM_MODEL: "huge" },
      'LLM_MODEL must be one of LLM_MODELS, with what it costs; "huge"',
    ],
    ["the same of pictures", { IMAGES_MODEL: "huge" }, "IMAGES_MODEL must be one of IMAGES_MODELS"],
  ] as const)("is refused at start with %s", ([_name, more, message], { market }) => {
    expect(problems(market, more)).toContain(message);
  });

  test("says all that is wrong with it at once", ({ market }) => {
    const said = problems(market, { LLM_MODELS: "a,b=1:1", IMAGES_MODELS: "c" });
    for (const entry of ["a", "b=1:1", "c"]) expect(said).toContain(`"${entry}" is none`);
  });

  test("has the first model for agents that name none, unless another is named", ({ market }) => {
    expect(readConfig({ ...market.environment, LLM_MODEL: "" }).modelList.chat.usual).toBe("small");
    expect(readConfig({ ...market.environment, LLM_MODEL: "large" }).modelList.chat.usual).toBe("large");
  });
});

describe("publishing", () => {
  const publish = async (market: TestMarketplace, definition: object) => {
    const { creator } = await seedMarket(market.context);
    return publishAgent(market.context, creator, "probe", { ...echoAgent, ...definition });
  };

  test.for([
    [
      "a model that is not listed",
      { settings: { prompt: "x", model: "gpt-huge" } },
      "settings.model",
      "small, large, vendor/odd:free",
    ],
    [
      "more tokens than the model may answer",
      { settings: { prompt: "x", max_tokens: 501 } },
      "settings.max_tokens",
      "at most 500",
    ],
    [
      "a price below what the model costs",
      { settings: { prompt: "x", model: "large" }, price_credits: 6 },
      "price_credits",
      "0 or at least 7",
    ],
    [
      "an image model that is not listed",
      { connector: "image-generator", settings: { prompt: "x", model: "small" } },
      "settings.model",
      "painter",
    ],
    [
      "more pictures than a call may make",
      { connector: "image-generator", settings: { prompt: "x", count: 3 }, price_credits: 12 },
      "settings.count",
      "at most 2",
    ],
    [
      "a price below what its pictures cost",
      { connector: "image-generator", settings: { prompt: "x", count: 2 }, price_credits: 7 },
      "price_credits",
      "0 or at least 8",
    ],
  ] as const)("refuses %s, naming the field", async ([_name, definition, field, message], { market }) => {
    await expect(publish(market, definition)).rejects.toMatchObject({
      code: "invalid_value",
      body: { field },
      message: expect.stringContaining(message),
    });
  });

  test("takes a listed model at its price, and any for free", async ({ market }) => {
    await publish(market, { settings: { prompt: "x", model: "large" }, price_credits: 7 });
    await publish(market, { settings: { prompt: "x", model: "large" }, price_credits: 0 });
    await publish(market, { settings: { prompt: "x", model: "vendor/odd:free", max_tokens: 100 } });
  });
});

describe("a run", () => {
  test("asks for no longer an answer than the model may give", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context);
    await run(market, key, agent.address);
    expect(market.model.requests.at(-1)!.body).toMatchObject({ model: "small", max_tokens: 500 });
  });

  test("whose prompt is too long for the model is 422 before anything is asked, naming the field", async ({
    market,
  }) => {
    const fields = [
      { name: "text", type: "text", required: true },
      { name: "tone", type: "string" },
    ];
    const settings = { prompt: "{{text}} {{text}} {{tone}}" };
    const { key, agent } = await seedMarket(market.context, { agent: { fields, settings } });
    const asked = market.model.asked();
    const long = await run(market, key, agent.address, { text: "x".repeat(101), tone: "kind" });
    expect(long).toMatchObject({ status: 422, body: { field: "text" } });
    expect(await run(market, key, agent.address, { text: "x", extraInstructions: "y".repeat(200) })).toMatchObject({
      status: 422,
      body: { field: "extraInstructions" },
    });
    const free = await seedMarket(market.context, { price: 0, agent: { fields, settings } });
    const anonymous = await call(market.url, `/api/agent/${free.agent.address}`, { body: { text: "x".repeat(101) } });
    expect(anonymous).toMatchObject({ status: 422, body: { field: "text" } });
    expect(market.model.asked()).toBe(asked);
    expect((await run(market, key, agent.address, { text: "x".repeat(90) })).body.success).toBe(true);
  });

  test("of a model that left the list, or costs more than its price by now, is 503 until that has changed", async ({
    market,
  }) => {
    const { key, agent, creator } = await seedMarket(market.context, {
      price: 7,
      agent: { settings: { prompt: "{{text}}", model: "large" } },
    });
    for (const [llmModels, status] of [
      ["small=0:500:200", 503],
      ["small=0:500:200,large=8:2000:1000", 503],
    ] as const) {
      const copy = await startMarketplace({
        databaseUrl: market.databaseUrl,
        model: market.model,
        env: { ...env, LLM_MODELS: llmModels },
      });
      const asked = market.model.asked();
      const answers = [
        await run(copy, key, agent.address),
        await call(copy.url, `/api/agent/${agent.address}`, { body: { text: "hello" } }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(status);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect(market.model.asked()).toBe(asked);
      const dearer = { ...echoAgent, price_credits: 8, settings: { prompt: "{{text}}", model: "large" } };
      const again = publishAgent(copy.context, creator, `again-${llmModels.length}`, dearer);
      if (llmModels.includes("large")) await again;
      else await expect(again).rejects.toThrow("settings.model");
      await copy.stop();
    }
  });
});
