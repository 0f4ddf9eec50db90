import { describe } from "vitest";
import { test } from "./stage.ts";

const misspelt = { slug: "summariser" };

describe("a creator's operations answer as documented:", () => {
  test("agents of their own", async ({ stage: { calls, rest, lone } }) => {
    await rest();
    const params = { slug: "second" };
    await calls.expect("checkAgentDefinition", 200);
    await calls.expect("saveAgentVersion", 200, { params });
    await calls.expect("saveAgentVersion", 422, { params, but: { price_credits: -1 } });
    await calls.expect("tryAgent", 200, { params });
    await calls.expect("tryAgent", 422, { params, but: { input: { text: "x".repeat(20_001) } } });
    await calls.expect("publishAgent", 200, { params });
    const special = { settings: { prompt: "{{text}}", model: "special" } };
    await calls.expect("saveAgentVersion", 200, { params: { slug: "special" }, but: special });
    await calls.expect("publishAgent", 422, { params: { slug: "special" }, at: lone });
    await calls.expect("saveAgentVersion", 200, { params: { slug: "writer" }, but: writer });
    await calls.expect("tryAgent", 409, { params: { slug: "writer" } });
    for (const id of ["getOwnAgent", "getOwnAgentFigures", "listOwnVersions", "getOwnVersion", "setModelBudget"]) {
      await calls.expect(id, 200, { params });
      await calls.expect(id, 404, { params: misspelt });
    }
    await calls.expect("unpublishAgent", 200, { params });
    await calls.expect("unpublishAgent", 409, { params });
    for (const id of ["tryAgent", "publishAgent", "unpublishAgent"]) await calls.expect(id, 404, { params: misspelt });
    for (const id of ["listOwnAgents", "showLedgerProof", "listActsOnAccount"]) await calls.expect(id, 200);
    await calls.expect("getLedgerProof", 200);
    await calls.expect("getLedgerProof", 404, { params: { handle: "nobody" } });
  });

  test("drafts", async ({ stage: { calls, rest } }) => {
    await rest();
    for (const id of ["listAgentTemplates", "listAgentDrafts"]) await calls.expect(id, 200);
    const begun = await calls.expect("startAgentDraft", 201);
    await calls.expect("startAgentDraft", 422, { body: { yaml: "- none" } });
    await calls.meet("startAgentDraft", 409, { body: { yaml: yamlOf(begun.body.agent) } });
    const params = { slug: begun.body.agent.split("/")[1] };
    await calls.expect("getAgentDraft", 200, { params });
    await calls.expect("getAgentDraftAsYaml", 200, { params });
    const to = (slug: string) => ({ params, body: { revision: begun.body.revision, slug } });
    await calls.expect("moveAgentDraft", 409, { params });
    await calls.expect("moveAgentDraft", 422, to("-"));
    await calls.expect("moveAgentDraft", 200, to(params.slug));
    await calls.expect("moveAgentDraft", 404, { params: misspelt });
    const part = await calls.expect("updateAgentDraft", 200, {
      params,
      body: {
        revision: begun.body.revision,
        definition: { name: "A", description: "B.", connector: "llm", settings: {} },
      },
    });
    await calls.expect("publishAgentDraft", 422, { params, but: { revision: part.body.revision } });
    const kept = await calls.expect("updateAgentDraft", 200, { params, but: { revision: part.body.revision } });
    const { revision } = kept.body;
    await calls.expect("updateAgentDraft", 422, { params: { slug: "-" } });
    await calls.expect("tryAgentDraft", 200, { params, but: { revision } });
    await calls.expect("tryAgentDraft", 422, { params, but: { revision, input: { text: 5 } } });
    await calls.expect("publishAgentDraft", 200, { params, but: { revision } });
    const { body: now } = await calls.send("getAgentDraft", { params });
    const restored = await calls.expect("restoreAgentVersion", 200, {
      params,
      but: { revision: now.revision, version: 1 },
    });
    await calls.expect("restoreAgentVersion", 409, { params, but: { version: 1 } });
    for (const id of ["updateAgentDraft", "tryAgentDraft", "publishAgentDraft", "discardAgentDraft"])
      await calls.expect(id, 409, { params });
    for (const id of ["getAgentDraft", "getAgentDraftAsYaml", "tryAgentDraft", "publishAgentDraft"])
      await calls.expect(id, 404, { params: misspelt });
    // There is neither an agent nor a draft of that name; either may be told first.
    await calls.meet("restoreAgentVersion", 404, { params: misspelt });
    await calls.expect("discardAgentDraft", 204, { params, but: { revision: restored.body.revision } });
  });
});

const writer = {
  connector: "hedera-transfer",
  settings: {
    network: "hedera:testnet",
    asset: "hbar",
    to: "{{text}}",
    amount: "1",
    per_run_max: "1",
    per_day_max: "9",
  },
};
const yamlOf = (agent: string) => `agent: ${agent}\nname: Another\nconnector: llm\n`;
