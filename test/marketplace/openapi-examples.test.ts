import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { signedIn } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent } from "../support/marketplace.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

const test = marketTest();

/** What signs out or ends the account that all others are asked with, or needs a facilitator, a mailbox or a minute of drawing. */
const elsewhere =
  /^\/api\/(agent|x402)\/|purchase$|\/svg\/|sign-(in|out)|\/close$|\/sessions|\/email\/confirm$|\/api\/operator|\/mcp$/;

test("every example of a request, right and wrong, is answered as its operation says", async ({ market }) => {
  const { db } = market.context;
  const ada = await createAccount(db, { handle: "ada" });
  const longer = { ...echoAgent, fields: [{ name: "text", type: "text", required: true, max_length: 20_000 }] };
  await publishAgent(market.context, ada, "summarizer", { ...longer, name: "Summarizer" });
  await grant(db, { accountId: ada.id, credits: credits(1_000n) });
  const { token: key } = await createKey(db, { accountId: ada.id, name: "examples", rateLimitPerMinute: 600 });
  await runCommand(["account", "link", "--account", "ada", "--email", "ada@example.com"], market.environment);
  const { cookie } = await signedIn(market, "ada@example.com");
  const { paths } = (await call(market.url, "/openapi.json")).body;
  const asked = { right: 0, wrong: 0 };
  for (const [path, methods] of Object.entries<Json>(paths)) {
    if (elsewhere.test(path)) continue;
    for (const [method, { operationId, requestBody }] of Object.entries<Json>(methods)) {
      if (!requestBody) continue;
      const to = path
        .replaceAll("{handle}", "ada")
        .replaceAll("{slug}", "summarizer")
        .replaceAll(/\{\w+\}/g, "none");
      const send = (body: unknown) =>
        call(market.url, to, { key, headers: { cookie }, method: method.toUpperCase(), body });
      const { example } = requestBody.content["application/json"];
      // What the example speaks of may not be there; its form is never what is wrong.
      const right = await send(example);
      expect([400, 401, 413, 415, 500], `${operationId} ${right.text}`).not.toContain(right.status);
      asked.right += 1;
      // What is wrong with a definition is the very answer of its check.
      if (operationId === "checkAgentDefinition") continue;
      const wrong = await send({ ...example, [Object.keys(example)[0] ?? "any"]: { not: "it" } });
      expect([400, 404, 409, 422], `${operationId} ${wrong.text}`).toContain(wrong.status);
      expect(wrong.body.error).toMatch(/\S/);
      asked.wrong += 1;
    }
  }
  expect(Math.min(asked.right, asked.wrong)).toBeGreaterThan(20);
});
