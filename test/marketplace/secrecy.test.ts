import { expect, test } from "vitest";
import { startMockX } from "../../infra/mock-x/server.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { allow, newTopic, seedLedgerCreator, startLedgerMarket } from "../support/ledger-agents.ts";
import { call, run, seedMarket, startMarketplace } from "../support/marketplace.ts";
import { startMcpServer } from "../support/mcp-server.ts";

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
    "/api/v1/runs",
    "/api/v1/ledger",
    "/api/v1/openapi.json",
    "/llms.txt",
    "/nothing",
    "/health",
  ]) {
    await note(call(market.url, path, { key }));
  }
  const [latest] = (await call(market.url, "/api/v1/runs", { key })).body.runs;
  await note(call(market.url, `/api/v1/runs/${latest.run_id}`, { key }));
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

test("no table, answer or log line holds what was sealed or what the operator keeps, whichever connector ran and failed", async () => {
  const [x, mcp] = [await startMockX({ token: "X-TOKEN-MARK" }), await startMcpServer()];
  const market = await startLedgerMarket({
    X_API_BASE_URL: x.url,
    X_API_BEARER_TOKEN: "X-TOKEN-MARK",
    IMAGES_API_KEY: "IMAGES-KEY-MARK",
    EVM_RPC_URLS: "eip155:84532=http://127.0.0.1:1/RPC-KEY-MARK",
    OUTBOUND_ALLOW_HOSTS: mcp.host,
  });
  const operatorSecret = market.open.accounts.operator.privateKeyHex;
  const seeded = await seedLedgerCreator(market, { balance: 1_000 });
  await allow(market, 1_000_000);
  const topic = await newTopic(market, "open");
  const secrets = { secrets: { word: "SECRET-MARK" } };
  const hedera = { per_day_max: "1000" };
  const anyNetwork = { network: "eip155:84532" };
  const agents = [
    await seeded.publish("hcs-write", { topic, message: "{{text}}" }, secrets),
    await seeded.publish("hedera-transfer", {
      ...hedera,
      asset: "hbar",
      to: "{{to}}",
      amount: "{{amount}}",
      per_run_max: "9",
    }),
    await seeded.publish("x-reward", {
      ...hedera,
      asset: "hbar",
      amount: "1",
      budget: "5",
      post: "{{text}}",
      wallet: "{{to}}",
      rule: {},
    }),
    await seeded.publish("token-audit", { ...anyNetwork, token: "{{to}}" }, secrets),
    ...(await Promise.all(
      [
        ["image-generator", { prompt: "{{text}}" }],
        [
          "mcp-tool",
          {
            url: mcp.url,
            tool: "echo",
            headers: { Authorization: "{{secret.word}}" },
            arguments: { text: "{{text}}" },
          },
        ],
        ["mcp-tool", { url: mcp.url, tool: "throws", headers: { "X-Word": "{{secret.word}}" } }],
        ["x-reward-credits", { amount: 1, per_day_max: 5, budget: 5, post: "{{text}}", rule: {} }],
      ].map(([connector, settings], index) =>
        publishAgent(market.context, seeded.creator, `other-${index}`, {
          name: "Other",
          description: "Another.",
          connector,
          price_credits: 5,
          fields: [{ name: "text", type: "text" }],
          settings,
          ...secrets,
        }),
      ),
    )),
  ];
  const answers: string[] = [];
  const inputs = [
    { text: "99", to: "0.0.1003", amount: "5" },
    { text: "", to: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", amount: "x" },
  ];
  for (const { address } of agents) {
    for (const input of inputs) {
      const { text, headers } = await run(market, seeded.key, address, input);
      answers.push(text, JSON.stringify([...headers]));
    }
    answers.push((await call(market.url, `/api/v1/agents/${address}`, { key: seeded.key })).text);
  }
  answers.push((await call(market.url, "/api/v1/runs", { key: seeded.key })).text);
  expect(answers.join("")).toContain('"success":true');
  expect(answers.join("")).toContain('"success":false');
  const { rows: tables } = await market.context.db.query("select tablename from pg_tables where schemaname = 'public'");
  expect(tables.length).toBeGreaterThan(10);
  const dumps = await Promise.all(
    tables.map(async ({ tablename }) => {
      const { rows } = await market.context.db.query(
        `select coalesce(string_agg(t::text, ' '), '') as all from "${tablename}" t`,
      );
      return rows[0].all as string;
    }),
  );
  await market.stop();
  await Promise.all([x.stop(), mcp.stop()]);

  const everything = [...answers, ...market.lines, ...dumps].join("\n");
  for (const word of ["SECRET-MARK", "X-TOKEN-MARK", "IMAGES-KEY-MARK", "RPC-KEY-MARK", operatorSecret]) {
    expect(everything.toLowerCase()).not.toContain(word.toLowerCase());
  }
  expect(everything).not.toContain(seeded.key.slice(8, 38));
  // What is meant to be there is: the dump reads every row.
  expect(dumps.join("")).toContain("{{secret.word}}");
});
