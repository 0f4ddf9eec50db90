import { Writable } from "node:stream";
import { type ModelStandIn, startModelStandIn } from "../../infra/model-stand-in/server.ts";
import { type Account, createAccount } from "../../marketplace/accounts/create.ts";
import { type Published, publishAgent } from "../../marketplace/agents/publish.ts";
import { setCallCeiling } from "../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { readConfig } from "../../marketplace/config.ts";
import { type Context, createContext, type Overrides } from "../../marketplace/context.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { type Proof, proveLedger as prove } from "../../marketplace/credits/prove.ts";
import { openApiDocument } from "../../marketplace/openapi/document.ts";
import { createServer } from "../../marketplace/server.ts";
import { listen } from "../../shared/http.ts";
import { createLog } from "../../shared/log.ts";
import { credits } from "../../shared/units.ts";
import { contractOf } from "./contract.ts";
import { freshDatabase } from "./postgres.ts";

/** The real marketplace on a database of its own, with a language model on the wire and a log that can be read. */
export async function startMarketplace(options: StartOptions = {}): Promise<TestMarketplace> {
  const databaseUrl = options.databaseUrl ?? (await freshDatabase("marketplace"));
  const model = options.model ?? (await startModelStandIn({ apiKey: modelApiKey }));
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const environment = environmentOf(databaseUrl, model.baseUrl, options.env);
  const context = await createContext(readConfig(environment), {
    log: createLog("marketplace", "debug", sink),
    ...options.overrides,
  });
  const listening = await listen(createServer(context), { host: "127.0.0.1", port: 0 });
  const stop = async () => {
    await listening.stop();
    await context.stop();
    if (!options.model) await model.stop();
  };
  return { url: listening.url, databaseUrl, environment, context, model, lines, stop };
}

const modelApiKey = "model-api-key-for-tests";

/** What a marketplace needs to be told, for one in this process or in a process of its own. */
function environmentOf(
  databaseUrl: string,
  modelUrl: string,
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    MARKETPLACE_DATABASE_URL: databaseUrl,
    MARKETPLACE_PORT: "0",
    FACILITATOR_URL: "http://127.0.0.1:1",
    LLM_BASE_URL: modelUrl,
    LLM_API_KEY: modelApiKey,
    // Models that cost their creators nothing; what they do cost is test/marketplace/models.test.ts's to ask.
    LLM_MODELS: ["gpt-4o-mini", "special", "MODEL-MARK"].map((name) => `${name}=0:4000:200000`).join(),
    IMAGES_MODELS: ["gpt-image-1", "special"].map((name) => `${name}=0:10:40000`).join(),
    // Whoever signs in comes from an address of their own: attempts are counted by it.
    TRUST_PROXY: "loopback",
    SESSION_SECRET: "a session secret for tests, long enough",
    MARKETPLACE_SEALING_KEY: Buffer.alloc(32, 7).toString("base64"),
    // At a public name nobody may sign in by a link that is shown.
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

const contract = contractOf(openApiDocument("http://127.0.0.1"));

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
  contract.check({ method, path, status: response.status, type, text });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: type.startsWith("application/json") ? JSON.parse(text) : undefined,
  };
}

export const run = (market: TestMarketplace, key: string, agent: string, input: object = { text: "hello" }) =>
  call(market.url, "/api/v1/run", { key, body: { agent, input } });

export const balanceOf = async (market: TestMarketplace, key: string) =>
  (await call(market.url, "/api/v1/balance", { key })).body;

/** Waits until `condition` holds; fails after `withinMs`. */
export async function until(condition: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** What the operator's proof says of this service's ledger; throws when anything is broken. */
export const proveLedger = (context: Context): Promise<Proof> => prove(context.db);

export async function spendable(context: Context, account: Account): Promise<number> {
  const { rows } = await context.db.query("select spendable from balances where account_id = $1", [account.id]);
  return Number(rows[0].spendable);
}

export interface TestMarketplace {
  readonly url: string;
  readonly databaseUrl: string;
  readonly environment: Record<string, string>;
  readonly context: Context;
  readonly model: ModelStandIn;
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

interface StartOptions {
  readonly databaseUrl?: string;
  readonly model?: ModelStandIn;
  readonly env?: Record<string, string>;
  readonly overrides?: Overrides;
}

interface Seed {
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
