import { startMockModels } from "../../../infra/mock-models/server.ts";
import { startMockX } from "../../../infra/mock-x/server.ts";
import { type Account, createAccount } from "../../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { setCallCeiling } from "../../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { createContext } from "../../../marketplace/compose.ts";
import { readConfig } from "../../../marketplace/config.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { runCommand } from "../../../marketplace/operator/command-line.ts";
import { createServer } from "../../../marketplace/server.ts";
import { listen } from "../../../shared/http.ts";
import { createLog } from "../../../shared/log.ts";
import { ownOrigin } from "../../support/authenticator.ts";
import { type Browser, signedIn } from "../../support/browser.ts";
import { startCutProxy } from "../../support/cut-proxy.ts";
import { ExampleCalls } from "../../support/example-calls.ts";
import { paidTest } from "../../support/fixtures.ts";
import { type Answer, call, echoAgent, type TestMarketplace } from "../../support/marketplace.ts";
import { confirm, newOperator, type Operator } from "../../support/operator.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { watchNamed } from "../../support/prepared-statements.ts";
import { startOidcProvider } from "../../support/sign-in-servers.ts";

export const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** As the browser says of a page of the service's own. */
export const ownPage = { "sec-fetch-site": "same-origin" };

export const provider = await startOidcProvider(ownOrigin);
/** What it draws is for sale. */
const model = await startMockModels({ asModel: true, sideMax: 256 });

/** Has the posts that rewards are for. */
export const x = await startMockX({ token: "X-TOKEN" });

/**
 * Both services and both chains for everything, and who acts there. `ada` is the examples' own creator, who runs her own agents
 * with a key, too.
 */
export const test = paidTest({
  withOperator: true,
  model,
  env: {
    MARKETPLACE_PUBLIC_URL: ownOrigin,
    SMTP_URL: "",
    MAIL_FROM: "",
    METRICS_TOKEN: "a token of the operator's for metrics",
    SECURITY_CONTACT: "mailto:security@example.com",
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: "marketplace",
    OIDC_CLIENT_SECRET: "a client secret",
    OIDC_NAME: "Example",
    X_API_BASE_URL: x.url,
    X_API_BEARER_TOKEN: "X-TOKEN",
    LIMIT_SVG_TRIES_PER_ADDRESS: "1",
  },
}).extend("stage", { scope: "file" }, async ({ paid }, { onCleanup }) => {
  const stage = await setStage(paid);
  onCleanup(stage.close);
  return stage;
});

export interface Stage extends People {
  readonly calls: ExampleCalls;
  /** A copy that was told nothing but its database: no sign-in, no metrics, no contact. */
  readonly bare: string;
  /** A copy at an address without a name, and without a mail server: its provider alone signs people in. */
  readonly unnamed: string;
  /** A copy without a provider, which offers other models. */
  readonly lone: string;
  /** A copy whose database is away, and that takes one public request a minute of an address. */
  readonly away: string;
  /** Forgets how often each of them called within the last minute. */
  readonly rest: () => Promise<unknown>;
  /** What was said to a body that stopped coming. */
  readonly stalled: Promise<Answer>;
  /** The named statements that the marketplace has asked its database. */
  readonly statements: ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

interface People {
  readonly ada: { readonly browser: Browser; readonly key: string; readonly account: Account };
  readonly operator: Operator;
  /** Signed in, without an account. */
  readonly newcomer: Browser;
}

async function setStage(paid: PaidMarket): Promise<Stage> {
  const { marketplace } = paid;
  const statements = watchNamed(marketplace.context.db);
  const people = await gather(paid);
  const bare = await startCopy(marketplace, {
    SESSION_SECRET: "",
    METRICS_TOKEN: "",
    SECURITY_CONTACT: "",
    OIDC_ISSUER: "",
  });
  const unnamed = await startCopy(marketplace, { MARKETPLACE_PUBLIC_URL: "https://203.0.113.5" });
  const lone = await startCopy(marketplace, { OIDC_ISSUER: "", LLM_MODELS: "gpt-4o-mini=0:4000:200000" });
  const proxy = await startCutProxy(marketplace.databaseUrl);
  const database = Object.assign(new URL(marketplace.databaseUrl), { host: new URL(proxy.url).host }).href;
  const away = await startCopy(marketplace, { MARKETPLACE_DATABASE_URL: database, LIMIT_PUBLIC_PER_ADDRESS: "1" });
  await proxy.stop();
  const { body: document } = await call(marketplace.url, "/openapi.json");
  const calls = new ExampleCalls(document, marketplace.url, ({ access, path }) => {
    if (access === "public") return {};
    if (access === "apiKey") return { key: people.ada.key };
    return { cookie: (path.startsWith("/api/operator/") ? people.operator : people.ada).browser.cookie };
  });
  const { answer: stalled } = calls.begin("sendSignInLink");
  const rest = () => marketplace.context.db.query("delete from rate_limits");
  const close = async () => {
    await Promise.all([bare.stop(), unnamed.stop(), lone.stop(), away.stop(), provider.stop(), model.stop(), x.stop()]);
  };
  return {
    statements,
    ...people,
    calls,
    bare: bare.url,
    unnamed: unnamed.url,
    lone: lone.url,
    away: away.url,
    rest,
    stalled,
    close,
  };
}

async function gather({ marketplace, evmWallet, ledger }: PaidMarket): Promise<People> {
  const { context } = marketplace;
  const { db } = context;
  const account = await createAccount(db, { handle: "ada" });
  await runCommand(["account", "link", "--account", "ada", "--email", "ada@example.com"], marketplace.environment);
  const fields = [{ name: "text", type: "text", required: true, max_length: 20_000 }];
  await publishAgent(context, account, "summarizer", { ...echoAgent, name: "Summarizer", fields });
  await grant(db, { accountId: account.id, credits: credits(10_000n) });
  const wallets = { "eip155:84532": evmWallet, "hedera:testnet": ledger.accounts.creator.accountId };
  for (const [network, address] of Object.entries(wallets)) {
    await addPayoutWallet(db, { accountId: account.id, network, address, checked: true });
  }
  await setCallCeiling(db, account.id, 100_000);
  const { token } = await createKey(db, { accountId: account.id, name: "examples", rateLimitPerMinute: 6_000 });
  const operator = await newOperator(marketplace);
  await confirm(operator);
  return {
    ada: { browser: await signedIn(marketplace, "ada@example.com"), key: token, account },
    operator,
    newcomer: await signedIn(marketplace),
  };
}

async function startCopy({ environment }: TestMarketplace, changes: Record<string, string>) {
  const context = await createContext(readConfig({ ...environment, ...changes }), {
    log: createLog("marketplace", "silent"),
  });
  const listening = await listen(createServer(context), { host: "127.0.0.1", port: 0 });
  const stop = async () => {
    await listening.stop();
    await context.stop();
  };
  return { url: listening.url, stop };
}
