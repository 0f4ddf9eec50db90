import { createHash } from "node:crypto";
import { ServerResponse } from "node:http";
import { describe, expect } from "vitest";
import { BodyBudget } from "../../../shared/body-budget.ts";
import { usualHttpLimits } from "../../../shared/http-limits.ts";
import { inTransaction } from "../../../shared/postgres.ts";
import { addColumns, changedOf, prepare } from "../../support/prepared-statements.ts";
import { test } from "./stage.ts";

describe("the service's own operations answer as documented:", () => {
  test("documents, probes and metadata", async ({ stage: { calls, bare } }) => {
    const documents = ["getStatus", "getLlmsTxt", "getLlmsFullTxt", "getDocs", "getSecurityContact"];
    const probes = ["getHealth", "getLiveness", "getReadiness"];
    const metadata = ["getToolServerMetadata", "getResourceMetadata", "getAuthorizationServerMetadata"];
    for (const id of [...documents, ...probes, ...metadata]) await calls.expect(id, 200);
    await calls.expect("getDocsPage", 200, { params: { page: "keys" } });
    await calls.expect("getOperationDocs", 200, { params: { operation: "runAgent" } });
    for (const id of ["getDocsPage", "getOperationDocs"]) await calls.expect(id, 404);
    for (const id of ["getOpenApi", "getOpenApiAtRoot"]) {
      const { headers } = await calls.expect(id, 200);
      await calls.expect(id, 304, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    }
    await calls.expect("getMetrics", 200, { as: { key: "a token of the operator's for metrics" } });
    await calls.expect("getMetrics", 401);
    for (const id of ["getMetrics", "getSecurityContact", ...metadata]) await calls.expect(id, 404, { at: bare });
    await calls.expect("authorizeOAuthClient", 400, { query: "?client_id=cli_none" });
    for (const id of ["registerOAuthClient", "authorizeOAuthClient", "exchangeOAuthCode", "revokeOAuthToken"]) {
      await calls.expect(id, 404, { at: bare });
    }
  });

  test("clients of the tool server that a person lets in", async ({ stage: { calls, ada } }) => {
    const { body: client } = await calls.expect("registerOAuthClient", 201);
    await calls.expect("registerOAuthClient", 400, { body: {} });
    const asked = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: client.redirect_uris[0],
      response_type: "code",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const { headers: led } = await calls.expect("authorizeOAuthClient", 303, { query: `?${asked}` });
    const { client_id } = client;
    const code = await consent(calls.url, led.get("location") ?? "", ada.browser.cookie);
    const redirect_uri = client.redirect_uris[0];
    const body = { grant_type: "authorization_code", client_id, code, redirect_uri, code_verifier: verifier };
    const { body: tokens } = await calls.expect("exchangeOAuthCode", 200, { body });
    await calls.expect("exchangeOAuthCode", 200, { but: { client_id, refresh_token: tokens.refresh_token } });
    await calls.expect("exchangeOAuthCode", 400, { but: { client_id } });
    await calls.meet("revokeOAuthToken", 400, { body: { token: "" } });
    await calls.expect("revokeOAuthToken", 200, { but: { client_id, token: tokens.refresh_token } });
    for (const id of ["registerOAuthClient", "exchangeOAuthCode", "revokeOAuthToken"]) {
      calls.hold(id, 413, await calls.announce(id, 20_000_000));
    }
  });

  test("a request with two hosts, a body that stops coming, and a failure of the service's own", async ({
    paid,
    stage,
  }) => {
    const { calls, operator } = stage;
    for (const id of ["getLiveness", "getReadiness", "getMetrics"]) {
      calls.hold(id, 400, await calls.askAsTwoHosts(id));
    }
    calls.sameOfAll(408, calls.hold("sendSignInLink", 408, await stage.stalled));
    const { db } = paid.marketplace.context;
    await db.query("alter table reports rename to mislaid_reports");
    const failed = await calls.expect("listReports", 500, { as: { cookie: operator.browser.cookie } });
    await db.query("alter table mislaid_reports rename to reports");
    calls.sameOfAll(500, failed);
  });

  test("what a tool server answers that has no room for a body", async ({ stage: { calls } }) => {
    const budget = new BodyBudget({ ...usualHttpLimits, bodyBytes: 2 }, 0);
    const reading = (address: string) => budget.open(address, new ServerResponse({} as never) as never, () => {});
    for (const address of ["10.0.0.1", "10.0.0.2"]) reading(address).grow(1);
    const { message } = await Promise.resolve(reading("10.0.0.3").grow(1)).catch((refusal) => refusal);
    const body = { error: { message } };
    calls.hold("sendToPaidMcp", 503, { status: 503, headers: new Headers(), text: "", body });
  });

  test("no documented answer is left that was not provoked", ({ stage: { calls } }) => {
    expect(calls.missing()).toEqual([]);
  });

  test("go on as they are while a newer version adds columns to every table", async ({ paid, stage }) => {
    const { db } = paid.marketplace.context;
    for (const page of ["/", "/explore"]) await (await fetch(paid.marketplace.url + page)).text();
    const changing = "select * from agents where id = $1";
    const prepared = await prepare(db, new Set([...stage.statements, changing]));
    await addColumns(db);
    expect(await inTransaction(db, (tx) => changedOf(tx, prepared))).toEqual([changing]);
    expect(prepared.length).toBeGreaterThan(30);
  });
});

const verifier = "v".repeat(43);

/** The person allows the client; the code that it is led back with. */
async function consent(url: string, path: string, cookie: string): Promise<string> {
  const fields = { name: "Paper Desk", scope: "own_agents", rate_limit_per_minute: "30", max_credits_per_day: "12" };
  const { headers } = await fetch(url + path, {
    method: "POST",
    redirect: "manual",
    headers: { accept: "text/html", cookie },
    body: new URLSearchParams({ ...fields, act: "allow" }),
  });
  return new URL(headers.get("location") ?? "").searchParams.get("code") ?? "";
}
