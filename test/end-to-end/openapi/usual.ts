import { describe, expect } from "vitest";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { withAccount } from "../../support/browser.ts";
import type { TestMarketplace } from "../../support/marketplace.ts";
import { newOperator } from "../../support/operator.ts";
import { ownPage, type Stage, test } from "./stage.ts";

const operatorsOwn = /^\/api\/operator\/(?!confirm)/;
/** These look at other things before the body: pay.ts asks them. */
const bodyComesLater = /^(registerOAuthClient|payAgent|payVectorize|payGenerateSvg|payGenerateSvgHd)$/;

describe("what any operation may refuse, in the words of its examples", () => {
  test("callers who are not let in, and pages of another origin", async ({ stage: { calls, newcomer, rest } }) => {
    for (const { id, access, path } of calls.operations.values()) {
      if (access === "public") continue;
      await calls.expect(id, operatorsOwn.test(path) ? 404 : 401, { as: {} });
      if (access === "session") await calls.expect(id, 403, { headers: { origin: "https://evil.example" } });
      if (operatorsOwn.test(path)) await calls.expect(id, 404, { as: { cookie: newcomer.cookie } });
    }
    await rest();
  });

  test("what is malformed, or too large", async ({ stage: { calls, rest } }) => {
    let asked = 0;
    for (const { id, path, said } of calls.operations.values()) {
      const headers = ownPage;
      const query = said.parameters?.find((one: { in: string }) => one.in === "query")?.name;
      if (bodyComesLater.test(id)) continue;
      if (said.requestBody?.content["application/json"]) {
        await calls.expect(id, 400, { body: "{", headers });
        calls.hold(id, 413, await calls.announce(id, 20_000_000, { headers }));
      } else if (query && id !== "authorizeOAuthClient") {
        await calls.expect(id, 400, { query: `?${query}=1&${query}=2` });
      } else if (path.includes("{")) {
        await calls.expect(id, 400, { params: brokenParams });
      } else continue;
      if (++asked % 40 === 0) await rest();
    }
    expect(asked).toBeGreaterThan(80);
    await rest();
  });

  test("callers who call too often", async ({ paid, stage }) => {
    const as = await exhausted(paid.marketplace, stage);
    const headers = { "x-forwarded-for": "203.0.113.7" };
    await stage.calls.send("getStatus", { at: stage.away, headers });
    for (const { id, access, path, said } of stage.calls.operations.values()) {
      if (!said.responses[429]) continue;
      if (access === "public")
        await stage.calls.expect(id, 429, { at: stage.away, headers: { ...headers, ...ownPage } });
      else if (access === "apiKey") await stage.calls.expect(id, 429, { as: { key: as.key } });
      else await stage.calls.expect(id, 429, { as: path.startsWith("/api/operator/") ? as.operator : as.person });
    }
    await stage.rest();
  });

  test("everybody, while the database is away", async ({ stage: { calls, away, ada, operator } }) => {
    for (const { id, access, path, said } of calls.operations.values()) {
      const cookie = (path.startsWith("/api/operator/") ? operator : ada).browser.cookie;
      const as = access === "apiKey" ? { key: ada.key } : access === "session" ? { cookie } : {};
      const answer = await calls.send(id, { at: away, as, headers: ownPage });
      if (access !== "public") calls.hold(id, 503, answer);
      else if (answer.status >= 500)
        expect.soft([id, answer.status, said.responses[503]]).toEqual([id, 503, expect.anything()]);
    }
  });
});

const brokenParams = Object.fromEntries(
  ["handle", "slug", "id", "run_id", "name", "token", "version", "page", "operation"].map((name) => [name, "%zz"]),
);

/** A key, a person and an operator who have called as often as they may. */
async function exhausted(market: TestMarketplace, stage: Stage) {
  const { db } = market.context;
  const { token: key } = await createKey(db, { accountId: stage.ada.account.id, name: "once", rateLimitPerMinute: 1 });
  await stage.calls.send("getBalance", { as: { key } });
  const { browser } = await withAccount(market);
  const { browser: operators } = await newOperator(market);
  await db.query(`select count_calls('session:' || id, 300, 300) from sign_in_users`);
  await db.query(`select count_calls('operator:' || account_id, 120, 120) from operators`);
  return { key, person: { cookie: browser.cookie }, operator: { cookie: operators.cookie } };
}
