import type { Page } from "playwright-core";
import { demoAgents } from "../../infra/dev/demo-agents.ts";
import { freePort } from "../../infra/free-port.ts";
import { startMockModels } from "../../infra/mock-models/server.ts";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { Browser } from "../support/browser.ts";
import { type Market, run, seedMarket, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import { type Chromium, test as withChromium } from "./chromium.ts";

/** A website with agents, runs and people on it, and a browser to look at it. */
export interface Site extends TestMarketplace {
  /** A creator with several agents, and a buyer who ran some. */
  readonly market: Market;
  readonly chromium: Chromium;
}

/** Tests get `site`: one marketplace for all files of a worker. */
export const test = withChromium.extend(
  "site",
  { scope: "worker" },
  async ({ chromium }, { onCleanup }): Promise<Site> => {
    const site = await startSite(chromium);
    onCleanup(() => site.stop());
    return site;
  },
);

/** One more website, with an environment of its own. */
export async function startSite(chromium: Chromium, env: Record<string, string> = {}): Promise<Site> {
  const [model, port] = await Promise.all([startMockModels(), freePort()]);
  // An agent of the seed calls what runs beside the model.
  const market = await startMarketplace({
    model,
    env: {
      OUTBOUND_ALLOW_HOSTS: new URL(model.url).host,
      MARKETPLACE_PORT: String(port),
      HOME_AGENT: "house/summarizer",
      HOME_PAYER: "house-payer",
      ...env,
    },
  });
  const seeded = await seed(market);
  const stop = async () => {
    await market.stop();
    await model.stop();
  };
  return { ...market, market: seeded, chromium, stop };
}

const listed = ["summarizer", "contact-finder", "greeter", "poster", "exchange-rate"] as const;

async function seed(site: TestMarketplace): Promise<Market> {
  const market = await seedMarket(site.context, { balance: 1_000 });
  const definitions = demoAgents({ demoService: site.model.url, demoTools: site.model.url });
  for (const slug of listed) await publishAgent(site.context, market.creator, slug, definitions[slug] as object);
  const ran = `${market.creator.handle}/summarizer`;
  const house = await createAccount(site.context.db, { handle: "house" });
  await publishAgent(site.context, house, "summarizer", definitions.summarizer as object);
  const payer = await createAccount(site.context.db, { handle: "house-payer" });
  await grant(site.context.db, { accountId: payer.id, credits: credits(1_000n) });
  for (let n = 0; n < 3; n += 1) await run(site, market.key, ran, { text: "A long story." });
  return market;
}

/** Gives the browser's page the session of a person who just signed in by e-mail, with an account when `handle` is given. */
export async function signIn(site: Site, page: Page, handle?: string): Promise<void> {
  const person = new Browser(site.url);
  // It begins with a digit, as an address may: the account's button shows its first character.
  const email = `7${Math.random().toString(36).slice(2)}@example.com`;
  const { link } = (await person.post("/api/account/sign-in/email", { email })).body;
  await person.post("/api/account/sign-in/email/confirm", { token: new URL(link).searchParams.get("token") });
  if (handle) await person.post("/api/account", { handle });
  const cookies = person.cookie.split("; ").map((text) => {
    const at = text.indexOf("=");
    return { name: text.slice(0, at), value: text.slice(at + 1), url: site.url };
  });
  await page.context().addCookies(cookies);
}
