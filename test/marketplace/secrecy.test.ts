import { expect, test } from "vitest";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { call, run, seedMarket, startMarketplace } from "../support/marketplace.ts";

test("no answer and no log line ever holds a key, a secret or a word of a recipe", async () => {
  const market = await startMarketplace({ env: { LLM_API_KEY: "model-api-key-for-tests" } });
  const { key, agent, buyer } = await seedMarket(market.context, {
    agent: {
      settings: { system: "RECIPE-MARK", prompt: "{{text}}", model: "MODEL-MARK" },
      secrets: { unused: "SECRET-MARK" },
    },
  });
  const httpApi = {
    connector: "http-api",
    fields: [{ name: "text", type: "text" }],
    settings: { url: "http://PATH-MARK.example.com/{{text}}", headers: { "X-Key": "{{secret.word}} HEADER-MARK" } },
    secrets: { word: "SECRET-MARK" },
  };
  const other = await seedMarket(market.context, { agent: httpApi });
  const second = await createKey(market.context.db, { accountId: buyer.id, name: "second" });
  const answers: string[] = [];
  const note = async (answer: Promise<{ text: string; headers: Headers }>) => {
    const { text, headers } = await answer;
    answers.push(text, JSON.stringify([...headers]));
  };

  await note(run(market, key, agent.address));
  for (const fault of [
    { status: 500 },
    { status: 429 },
    { refuse: true },
    { truncate: true },
    { garbled: true },
    { hangUp: true },
  ]) {
    market.model.clearFaults();
    market.model.injectFault(fault);
    await note(run(market, key, agent.address));
  }
  market.model.clearFaults();
  await note(run(market, key, agent.address, {}));
  await note(run(market, key, agent.address, { text: "x".repeat(100) }));
  await note(run(market, other.key, other.agent.address, { text: "x" }));
  await note(run(market, `${key}x`, agent.address));
  await note(run(market, second.token, "no/agent"));
  await note(call(market.url, "/api/v1/run", { key, body: "{" }));
  for (const path of [
    "/api/v1/balance",
    "/api/v1/agents",
    `/api/v1/agents/${agent.address}`,
    `/api/v1/agents/${other.agent.address}`,
    "/nothing",
    "/health",
  ]) {
    await note(call(market.url, path, { key }));
  }
  // Even our own failure says nothing: the database is gone in the middle of a request.
  await market.context.db.query("alter table runs rename to runs_gone");
  await note(run(market, key, agent.address));
  await market.context.db.query("alter table runs_gone rename to runs");
  await market.stop();

  const everything = [...answers, ...market.lines].join("\n");
  expect(answers.length).toBeGreaterThan(30);
  expect(market.lines.length).toBeGreaterThan(10);
  for (const word of [
    "RECIPE-MARK",
    "MODEL-MARK",
    "SECRET-MARK",
    "HEADER-MARK",
    "PATH-MARK",
    "path-mark",
    "model-api-key-for-tests",
  ]) {
    expect(everything).not.toContain(word);
  }
  for (const token of [key, other.key, second.token]) expect(everything).not.toContain(token.slice(8, 38));
});
