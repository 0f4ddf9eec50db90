import { describe } from "vitest";
import { reportAgent } from "../../../marketplace/reports/report-agent.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { withAccount } from "../../support/browser.ts";
import { test } from "./stage.ts";

describe("an operator's operations answer as documented:", () => {
  test("looking, and acting", async ({ paid: { marketplace }, stage: { calls } }) => {
    for (const id of ["listAccounts", "listAllAgents", "listReports", "listOperatorActs"]) await calls.expect(id, 200);
    await calls.expect("findRecords", 200, { query: "?id=ada" });
    const { handle } = await withAccount(marketplace);
    const params = { handle };
    await calls.expect("setAccountState", 200, { params });
    await calls.meet("setAccountState", 409, { params });
    await calls.expect("setAccountState", 422, { params, but: { reason: "" } });
    await calls.expect("grantCredits", 200);
    await calls.expect("grantCredits", 409);
    await calls.expect("grantCredits", 422, { but: { note: "" } });
    await calls.expect("setAgentState", 200);
    await calls.expect("setAgentState", 409);
    await calls.expect("setAgentState", 422, { but: { reason: "" } });
    for (const id of ["saveAgentVersion", "publishAgent"]) await calls.expect(id, 409);
    await calls.send("setAgentState", { but: { move: "restore" } });
    await calls.expect("addAuditNote", 200);
    await calls.expect("addAuditNote", 422, { but: { note: "" } });
    const said = { reason: "stolen", text: "It is mine." } as const;
    const report = await reportAgent(marketplace.context, "ada/summarizer", { address: "10.9.9.9", said });
    await calls.expect("resolveReport", 422, { params: report, but: { note: "x".repeat(2_001) } });
    await calls.expect("resolveReport", 200, { params: { ...report } });
    const { body: run } = await calls.send("runAgent");
    await calls.send("shareRun", { params: { run_id: run.run_id } });
    await calls.expect("revokeRunShareAsOperator", 422, { params: { run_id: run.run_id }, but: { reason: "" } });
    await calls.expect("revokeRunShareAsOperator", 200, { params: { run_id: run.run_id } });
    await calls.expect("readRunInput", 200, { params: { run_id: run.run_id } });
    await calls.expect("readRunInput", 422, { params: { run_id: run.run_id }, but: { note: "" } });
  });

  test("showing that it is they", async ({ stage: { calls, operator, ada, rest } }) => {
    await rest();
    const mine = { as: { cookie: operator.browser.cookie } };
    await calls.expect("confirmOperator", 422, mine);
    await calls.expect("confirmOperator", 200, { ...mine, body: { code: operator.code(1) } });
    await calls.expect("createOperatorChallenge", 409, mine);
    const passkey = new Authenticator();
    const asked = (await operator.browser.post("/api/account/passkeys/challenge")).body;
    await operator.browser.post("/api/account/passkeys", passkey.create(asked));
    const { body } = await calls.expect("createOperatorChallenge", 200, mine);
    await calls.expect("confirmOperatorByPasskey", 200, { ...mine, body: passkey.sign(body) });
    await calls.expect("confirmOperatorByPasskey", 422, mine);
    for (const id of ["confirmOperator", "createOperatorChallenge", "confirmOperatorByPasskey"])
      await calls.expect(id, 404, { as: { cookie: ada.browser.cookie } });
  });
});
