import { Writable } from "node:stream";
import { type MockModels, startMockModels } from "../../infra/mock-models/server.ts";
import { type Account, createAccount } from "../../marketplace/accounts/create.ts";
import { type Published, publishAgent } from "../../marketplace/agents/publish.ts";
import { setCallCeiling } from "../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { createContext, type Overrides } from "../../marketplace/compose.ts";
import { type Config, readConfig } from "../../marketplace/config.ts";
import type { Context } from "../../marketplace/context.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { type Proof, proveLedger as prove } from "../../marketplace/credits/prove.ts";
import { startJobs } from "../../marketplace/jobs.ts";
import { createServer } from "../../marketplace/server.ts";
import { listen } from "../../shared/http.ts";
import { createLog } from "../../shared/log.ts";
import { type Contract, contractOf } from "./contract.ts";
import { elapse } from "./elapse.ts";
import { freshDatabase } from "./postgres.ts";
import { statements } from "./statements.ts";

/** The real marketplace on a database of its own, with a language model on the wire and a log that can be read. */
export async function startMarketplace(options: StartOptions = {}): Promise<TestMarketplace> {
  const databaseUrl = options.databaseUrl ?? (await freshDatabase("marketplace"));
  const model = options.model ?? (await startMockModels({ apiKey: modelApiKey, sideMax: 256 }));
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const environment = environmentOf(databaseUrl, model.baseUrl, options.env);
  const context = await createContext(impatient(readConfig(environment)), {
    log: createLog("marketplace", "debug", sink),
    ...options.overrides,
  });
  const jobs = options.jobs === false ? undefined : startJobs(context, { pace: 4 });
  const port = Number(environment.MARKETPLACE_PORT);
  const listening = await listen(createServer(context), { host: "127.0.0.1", port });
  const stop = async () => {
    await listening.stop();
    await jobs?.stop();
    await context.stop();
    if (!options.model) await model.stop();
  };
  return { url: listening.url, databaseUrl, environment, context, model, lines, stop };
}

/** Another copy of a service: on its database, with its settings and its model. */
export function startCopy({ databaseUrl, environment: env, model }: TestMarketplace): Promise<TestMarketplace> {
  return startMarketplace({ databaseUrl, env, model });
}

/** A chain that says nothing is asked no longer than it takes to know that a transaction has expired: tests would wait for it. */
function impatient(config: Config): Config {
  const { hedera } = config.chains;
  return hedera ? { ...config, chains: { ...config.chains, hedera: { ...hedera, giveUpAfterMs: 13_000 } } } : config;
}

const modelApiKey = "model-api-key-for-tests";

/** The service's parts, on a database of their own unless one is named, with nothing that listens or runs in the background. */
export async function marketplaceContext(env: Record<string, string>): Promise<Context> {
  const databaseUrl = env.MARKETPLACE_DATABASE_URL ?? (await freshDatabase("marketplace"));
  const environment = environmentOf(databaseUrl, "http://127.0.0.1:1", env);
  return createContext(readConfig(environment), { log: createLog("marketplace", "silent") });
}

/** What a marketplace needs to be told, for one in this process or in a process of its own. */
function environmentOf(
  databaseUrl: string,
  modelUrl: string,
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    MARKETPLACE_DATABASE_URL: databaseUrl,
    MARKETPLACE_MIGRATE: "on",
    MARKETPLACE_DATABASE_STATEMENTS: statements,
    DRAIN_MS: "0",
    MARKETPLACE_PORT: "0",
    FACILITATOR_URL: "http://127.0.0.1:1",
    LLM_BASE_URL: modelUrl,
    LLM_API_KEY: modelApiKey,
    // Models that cost their creators nothing; what they do cost is test/marketplace/model-list.test.ts's to ask.
    LLM_MODELS: ["gpt-4o-mini", "special", "MODEL-MARK"].map((name) => `${name}=0:4000:200000`).join(),
    IMAGES_MODELS: ["gpt-image-1", "special"].map((name) => `${name}=0:10:40000`).join(),
    // Tests call ledger agents in bursts; what the operator pays for is hedera-fees.test.ts's to ask.
    HEDERA_FEES_PER_DAY: "0",
    HEDERA_FEES_PER_CREATOR_DAY: "0",
    // Nor are posts read for them one by one; how many are is x-claims.test.ts's to ask.
    X_CLAIMS_PER_CREATOR_MINUTE: "0",
    // Each person who signs in comes from an address of their own: attempts are counted by it.
    TRUST_PROXY: "loopback",
    SESSION_SECRET: "a session secret for tests, long enough",
    MARKETPLACE_SEALING_KEY: Buffer.alloc(32, 7).toString("base64"),
    // At a public name no one may sign in by a link that is shown on the page: it is sent.
    ...(more.MARKETPLACE_PUBLIC_URL && { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "a@example.com" }),
    ...more,
  };
}

/** A creator with one agent, and a buyer with a key and credits. */
export async function seedMarket(context: Context, seed: Seed = {}): Promise<Market> {
  const { price = 5, balance = 100, rateLimit = 10_000 } = seed;
  const suffix = Math.random().toString(36).slice(2, 8);
  const creator = await createAccount(context.db, { handle: `creator-${suffix}` });
  const buyer = await createAccount(context.db, { handle: `buyer-${suffix}` });
  // Tests call faster than customers do.
  for (const { id } of [creator, buyer]) await setCallCeiling(context.db, id, 100_000);
  if (balance > 0) await grant(context.db, { accountId: buyer.id, credits: credits(BigInt(balance)) });
  const key = await createKey(context.db, { accountId: buyer.id, name: "test", rateLimitPerMinute: rateLimit });
  const agent = await publishAgent(context, creator, "echo", { ...echoAgent, price_credits: price, ...seed.agent });
  return { creator, buyer, key: key.token, keyId: key.id, agent };
}

export const echoAgent = {
  name: "Echo",
  description: "Says what it is told.",
  connector: "llm",
  price_credits: 5,
  fields: [{ name: "text", type: "text", required: true, max_length: 50 }],
  settings: { system: "RECIPE-MARK: repeat what is said.", prompt: "{{text}}" },
};

let contract: Promise<Contract> | undefined;

/** The contract of the service that is called first: every one in this process runs the same code. */
async function contractOfService(url: string): Promise<Contract> {
  contract ??= fetch(`${url}/api/v1/openapi.json`).then(async (answer) => contractOf(await answer.json()));
  return contract.catch((error) => {
    contract = undefined;
    throw error;
  });
}

/** One request as JSON; `key` goes into the authorization header. The answer must be as the OpenAPI document says. */
export async function call(url: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { key, body, method = body === undefined ? "GET" : "POST", headers = {} } = options;
  const response = await fetch(url + path, {
    redirect: "manual",
    method,
    headers: { ...(key ? { authorization: `Bearer ${key}` } : {}), "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  (await contractOfService(url)).check({ method, path, status: response.status, type, text });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: type.startsWith("application/json") ? JSON.parse(text) : undefined,
  };
}

export function run(market: TestMarketplace, key: string, agent: string, input: object = { text: "hello" }) {
  return call(market.url, "/api/v1/run", { key, body: { agent, input } });
}

export async function balanceOf(market: TestMarketplace, key: string) {
  return (await call(market.url, "/api/v1/balance", { key })).body;
}

/** Waits until `condition` holds; fails after `withinMs`. */
export async function until(condition: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const begun = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - begun;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms`);
    await elapse(waitedMs < 1_000 ? 25 : 100, "what takes long does not come sooner for being asked often");
  }
}

/** What the operator's proof says of this service's ledger; throws when anything is broken. */
export function proveLedger(context: Context): Promise<Proof> {
  return prove(context.db);
}

export async function spendable(context: Context, account: Account): Promise<number> {
  const { rows } = await context.db.query("select spendable from balances where account_id = $1", [account.id]);
  return Number(rows[0].spendable);
}

export interface TestMarketplace {
  readonly url: string;
  readonly databaseUrl: string;
  readonly environment: Record<string, string>;
  readonly context: Context;
  readonly model: MockModels;
  /** Everything logged so far. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

export interface Market {
  readonly creator: Account;
  readonly buyer: Account;
  readonly key: string;
  readonly keyId: string;
  readonly agent: Published;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface StartOptions {
  readonly databaseUrl?: string;
  readonly model?: MockModels;
  readonly env?: Record<string, string>;
  readonly overrides?: Overrides;
  /** Without them nothing extends a lease, or ends a run whose lease a test has ended. */
  readonly jobs?: false;
}

export interface Seed {
  readonly price?: number;
  readonly balance?: number;
  readonly rateLimit?: number;
  readonly agent?: object;
}

interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}
