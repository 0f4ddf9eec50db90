import type { Page } from "playwright-core";
import { expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { shareRun } from "../../../marketplace/runs/share-run.ts";
import { type Browser, withAccount } from "../../support/browser.ts";
import { echoAgent } from "../../support/marketplace.ts";
import { open, visitEverywhere } from "../browser.ts";
import { type Site, test } from "../site.ts";

/** A person who has run agents for a month, and whose own agents others have run. */
async function busyPerson(site: Site) {
  const { browser, handle } = await withAccount(site);
  const { db, tools } = site.context;
  const account = await accountByHandle(db, handle);
  const sold = await publishAgent(site.context, account, "sold", { ...echoAgent, name: "Sold echo" });
  const drawn = await publishAgent(site.context, account, "poster", poster);
  await db.query(runsOf, [account.id, site.market.agent.agentId, site.market.buyer.id, sold.agentId]);
  await db.query(daysOf, [account.id, site.market.agent.agentId, sold.agentId]);
  await db.query(postingsOf, [account.id, site.market.creator.id]);
  const { run_id: run } = (await browser.get("/api/account/runs?state=succeeded&limit=1")).body.runs[0];
  const { token } = await shareRun(db, account.id, run, { withInput: true });
  const svg = (fill: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160"><rect width="240" height="160" fill="${fill}"/></svg>`;
  for (const fill of ["teal", "navy", "plum"]) {
    await tools.files.keep({ bytes: Buffer.from(svg(fill)), kind: "svg", ownerId: account.id, agentId: drawn.agentId });
  }
  const { files } = (await browser.get("/api/account/files")).body;
  await tools.files.setHidden(account.id, files[1].name, true);
  const onChain = await runWithPictures(site, account.id, files);
  await db.query(rewardOf, [sold.agentId]);
  return { browser, run, token, onChain };
}

/** A run that gave pictures, one of them taken down since, and wrote to a chain that has not told yet. */
async function runWithPictures(site: Site, accountId: string, files: ReadonlyArray<{ url: string }>): Promise<string> {
  const id = `run_${"5".repeat(26)}`;
  const output = { images: [...files.map(({ url }) => url), "https://elsewhere.example/a.png"] };
  await site.context.db.query(
    `with ran as (
       insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, output, receipt, created_at, finished_at)
       values ($1, 'credits', $2, $3, 1, 0, 'succeeded', $4, '{"status": "done"}', now() - interval '2 s', now())
     )
     insert into effects (key, run_id, agent_id, network, transaction_ids, state, promised)
     values ($1, $1, $3, 'hedera:mainnet', '{0.0.48213@1795341734.418307551}', 'open', '{}')`,
    [id, accountId, site.market.agent.agentId, output],
  );
  return id;
}

const rewardOf = `
  with effect as (
    insert into effects (key, run_id, agent_id, network, transaction_ids, state, promised, output)
    values ('reward-' || $1, 'run_x', $1, 'hedera:mainnet', '{0.0.48213@1795341734.418307552}', 'done', '{}', '{}') returning key
  ), kind as (
    update agent_versions set connector = 'x-reward' where agent_id = $1 and version = 2
  )
  insert into rewards (agent_id, effect_key, run_id, post_id, author_id, username, recipient, asset, amount, state)
  select $1, key, 'run_x', '1890000000000000001', '2244994945', 'grace', '0.0.4512345', 'hbar', 100000000, 'paid' from effect`;

const poster = {
  name: "Poster",
  description: "Draws a poster.",
  connector: "image-generator",
  price_credits: 5,
  fields: [{ name: "subject", type: "string", required: true }],
  settings: { prompt: "A poster of {{subject}}" },
};

/** Opens the path as that person. */
const as = (site: Site, browser: Browser, path: string) => async (page: Page) => {
  const cookies = browser.cookie.split("; ").map((text) => {
    const at = text.indexOf("=");
    return { name: text.slice(0, at), value: text.slice(at + 1), url: site.url };
  });
  await page.context().addCookies(cookies);
  await page.goto(site.url + path);
};

const runsOf = `
  insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, input, output, error, created_at, finished_at)
  select 'run_' || substr(md5($1 || n) || md5(n::text), 1, 26), 'credits', case when n > 60 then $3 else $1 end,
    case when n > 60 then $4 else $2 end, 1, 5, case when n % 9 = 0 then 'failed' else 'succeeded' end,
    '{"values": {"text": "hello <b>there</b>"}}', case when n % 9 > 0 then '{"kind": "json", "data": {"score": 64, "findings": ["<script>"]}}'::json end,
    case when n % 9 = 0 then 'The agent took too long.' end, now() - n * interval '3 hours', now() - n * interval '3 hours' + interval '2.94 s'
  from generate_series(1, 90) n`;

const postingsOf = `
  insert into postings (kind, from_purse, to_purse, amount, run_id, created_at)
  select kind, from_purse, to_purse, 5, r.id, at from runs r, lateral (values
    ('hold', 'spendable:' || $1, 'held:' || r.id, r.created_at),
    ('capture', 'held:' || r.id, 'earned:' || $2, r.finished_at)
  ) leg (kind, from_purse, to_purse, at) where r.account_id = $1 and r.state = 'succeeded'`;

const daysOf = `
  with days as (select n, (now() at time zone 'utc')::date - n as day, 12 + (n * 7) % 20 as runs from generate_series(0, 29) n),
  spent as (
    insert into account_days (account_id, day, agent_id, runs, failed, credits, ms)
    select $1, day, $2, runs, n % 4, 5 * (runs - n % 4), runs * 2900 from days
  )
  insert into agent_days (agent_id, day, payer, runs, failed, credits, units)
  select $3, day, payer, runs, 0, case when payer = 'key' then 5 * runs else 0 end, case when payer = 'key' then 0 else 20000 * runs end
  from days, unnest(array['key', 'eip155:8453']) payer`;

let busy: ReturnType<typeof busyPerson> | undefined;

test("what an account has run shows without a fault at every width, in both themes", async ({ site }) => {
  busy ??= busyPerson(site);
  const { browser, run, onChain } = await busy;
  for (const [name, path] of [
    ["activity", "/activity"],
    ["run", `/runs/${run}`],
    ["run-on-chain", `/runs/${onChain}`],
  ] as const) {
    await visitEverywhere(site, path, { name, prepare: as(site, browser, path) });
  }
});

test("a run that is shared, and how it is reported, shows without a fault at every width, in both themes", async ({
  site,
}) => {
  busy ??= busyPerson(site);
  const { token } = await busy;
  await visitEverywhere(site, `/runs/shared/${token}`, { name: "run-shared" });
  await visitEverywhere(site, `/runs/shared/${token}/report`, { name: "run-shared-report" });
});

test("what a creator's agents bring, and what they have drawn, shows without a fault at every width, in both themes", async ({
  site,
}) => {
  busy ??= busyPerson(site);
  const { browser } = await busy;
  for (const [name, path] of [
    ["figures", "/figures/sold"],
    ["figures-images", "/figures/poster/images"],
    ["figures-rewards", "/figures/sold/rewards"],
  ] as const) {
    await visitEverywhere(site, path, { name, prepare: as(site, browser, path) });
  }
});

test("the runs of an agent with a long address fit a phone: what each cost is not cut off", async ({ site }) => {
  const { browser, handle } = await withAccount(site);
  const account = await accountByHandle(site.context.db, handle);
  const slug = "w".repeat(48);
  const { agentId } = await publishAgent(site.context, account, slug, { ...echoAgent, name: "Long echo" });
  await site.context.db.query(
    `insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, created_at, finished_at)
     values ($1, 'credits', $2, $3, 1, 5, 'succeeded', now() - interval '3 days', now() - interval '3 days')`,
    [`run_${"7".repeat(26)}`, account.id, agentId],
  );
  for (const width of [320, 375]) {
    const opened = await open(site, "/", { viewport: { width, height: 800 } });
    await as(site, browser, "/activity")(opened.page);
    const table = opened.page.locator("#runs .table-box");
    expect(await table.textContent()).toContain(slug);
    expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await opened.close();
  }
});
