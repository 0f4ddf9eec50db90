import { access } from "node:fs/promises";
import { describe, expect } from "vitest";
import { test } from "./stage.ts";

describe("the service's own operations", () => {
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

  test("clients of the tool server that a person lets in", async ({ stage: { calls } }) => {
    const { body: client } = await calls.expect("registerOAuthClient", 201);
    await calls.expect("registerOAuthClient", 400, { body: {} });
    const asked = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: client.redirect_uris[0],
      response_type: "code",
      code_challenge: "c".repeat(43),
      code_challenge_method: "S256",
    });
    await calls.expect("authorizeOAuthClient", 303, { query: `?${asked}` });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const lost = `grant_type=refresh_token&refresh_token=amr_none&client_id=${client.client_id}`;
    await calls.expect("exchangeOAuthCode", 400, { headers, body: lost });
    await calls.meet("revokeOAuthToken", 400, { headers, body: "token=" });
    await calls.expect("revokeOAuthToken", 200, { headers, body: `token=amr_none&client_id=${client.client_id}` });
    for (const id of ["registerOAuthClient", "exchangeOAuthCode", "revokeOAuthToken"]) {
      calls.hold(id, 413, await calls.announce(id, 20_000_000, id === "registerOAuthClient" ? {} : { headers }));
    }
  });

  test("every other documented answer is provoked in the file that is named for it", async ({ stage: { calls } }) => {
    for (const file of Object.keys(elsewhere)) await access(new URL(`../../${file}`, import.meta.url));
    const there = Object.values(elsewhere).flat();
    expect(calls.missing().filter((answer) => !there.some((one) => new RegExp(`^${one}$`).test(answer)))).toEqual([]);
  });
});

/** By file, what takes a stage of its own: time, a service that fails, a second provider, a person at a page. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  "shared/receive-body.test.ts": [".* 408"],
  "shared/http.test.ts": [".* 500", "(getLiveness|getReadiness|getMetrics) 400"],
  "marketplace/svg/endpoints.test.ts": [
    ".* 502",
    "(generateSvg|generateSvgSignedIn) (402|409|422)",
    "payGenerateSvg(Hd)? (4..)",
  ],
  "end-to-end/specification/svg-and-tools.test.ts": [
    "(generateSvg|generateSvgSignedIn|payGenerateSvg|payGenerateSvgHd) 200",
  ],
  "end-to-end/paid-tools.test.ts": ["sendToPaidMcp 503"],
  "marketplace/mcp/revisions.test.ts": ["(sendToMcp|sendToPaidMcp) 404"],
  "web/console/oauth.test.ts": ["exchangeOAuthCode 200"],
  "marketplace/sign-in.test.ts": [
    "(startSingleSignOn|finishSingleSignOn) (303|404)",
    "createWalletChallenge 503",
    "changeEmail 404",
  ],
  "marketplace/passkeys.test.ts": ["(createNewPasskeyChallenge|addPasskey) 40[49]"],
  "marketplace/credit-alerts.test.ts": ["setAlerts 200"],
  "marketplace/payout-wallets.test.ts": ["proveWallet 409"],
  "marketplace/publishing.test.ts": ["(publishAgent|publishAgentDraft) 422", "tryAgent 409"],
  "marketplace/account-settings.test.ts": ["setAbout 409", "shareRun 409"],
  "marketplace/account-statement.test.ts": ["downloadStatement 422"],
  "marketplace/connectors/reservations.test.ts": ["payAgent 409"],
  "marketplace/connectors/debts.test.ts": ["payAgent 410"],
  "marketplace/s3-store.test.ts": ["getFile 503"],
  "marketplace/operators.test.ts": ["(resolveReport|endShare) .*"],
  "marketplace/activity.test.ts": ["(showRunAsExample|removeExample) .*"],
  "marketplace/drafts.test.ts": ["moveAgentDraft .*"],
};
