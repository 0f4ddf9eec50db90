import type { Page } from "playwright-core";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { nameOperator } from "../../marketplace/admin/operators.ts";
import { reportAgent, reportSharedRun } from "../../marketplace/reports/report-agent.ts";
import { shareRun } from "../../marketplace/runs/share-run.ts";
import { run } from "../support/marketplace.ts";
import { visitEverywhere } from "./browser.ts";
import { type Site, signIn, test } from "./site.ts";

/** A person whom the operator named, and who showed a code. */
async function asOperator(site: Site, page: Page): Promise<void> {
  const { db, sealer } = site.context;
  const handle = `op-${Math.random().toString(36).slice(2, 8)}`;
  await signIn(site, page, handle);
  const account = await accountByHandle(db, handle);
  await nameOperator({ db, sealer }, account);
  await db.query(
    `insert into operator_confirmations select s.id, $1, now() + interval '10 minutes'
     from sign_in_sessions s join sign_in_users u on u.id = s.user_id where u.account_id = $1`,
    [account.id],
  );
}

test("what an operator finds, with a report open, and an account to act on, shows without a fault at every width, in both themes", async ({
  site,
}) => {
  const { buyer, agent, key } = site.market;
  const said = { reason: "stolen", text: "It copies another creator’s prompt." };
  await reportAgent(site.context, agent.address, { address: "10.9.9.1", said });
  const { run_id } = (await run(site, key, agent.address, { text: "hello" })).body;
  const { token } = await shareRun(site.context.db, buyer.id, run_id, { withInput: false });
  const shown = { reason: "private", text: "My address is in it." };
  await reportSharedRun(site.context.db, token, { address: "10.9.9.1", said: shown });
  const look = (path: string, name: string) =>
    visitEverywhere(site, path, {
      name,
      status: 404,
      prepare: async (page) => {
        await asOperator(site, page);
        await page.goto(site.url + path);
      },
    });
  await look("/admin", "admin");
  await look(`/admin?id=${run_id}`, "admin-run");
  await look(`/admin/accounts/${buyer.handle}`, "admin-account");
  await look("/admin/reports", "admin-reports");
});
