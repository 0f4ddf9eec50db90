import { agentPath } from "./agent-path.ts";
import { type ChargingOptions, postOnce } from "./charging.ts";
import { errorOf, OutcomeUnknownError, RunFailedError } from "./errors.ts";
import { Files } from "./files.ts";
import { type CallOptions, HttpClient, type Query } from "./http-client.ts";
import { Keys } from "./keys.ts";
import { Pages } from "./pages.ts";
import { Pay } from "./payments/pay.ts";
import type { PaymentStore } from "./payments/store.ts";
import type { Wallets } from "./payments/wallets.ts";
import type {
  Agent,
  AgentDetail,
  AgentPage,
  AnswerOf,
  Balance,
  ListQuery,
  QueryOf,
  Run,
  RunDetail,
  RunPage,
  RunRequest,
  RunResult,
} from "./shapes.ts";
import { Svg } from "./svg.ts";
import { version } from "./version.ts";

export type { ChargingOptions } from "./charging.ts";
export * from "./errors.ts";
export type { CallOptions, Retry } from "./http-client.ts";
export type { ImageSource } from "./image.ts";
export type { Pages } from "./pages.ts";
export type { Paid, PayOptions, PriceLimit } from "./payments/pay.ts";
export type { Quote, Requirements } from "./payments/quote.ts";
export type { SignedPayment } from "./payments/signed-payment.ts";
export type { PaymentStore } from "./payments/store.ts";
export type { EvmAccount, HederaAccount, HederaKey, Wallets } from "./payments/wallets.ts";
export type * from "./shapes.ts";
export type { VectorizeRequest } from "./svg.ts";

export interface AgentMarketplaceOptions extends Omit<CallOptions, "signal"> {
  /** An API key; AGENT_MARKETPLACE_KEY in the environment when left out. What is paid per call needs none. */
  readonly key?: string | undefined;
  /** Where the service is; AGENT_MARKETPLACE_URL in the environment when left out. */
  readonly baseUrl?: string | undefined;
  /** The wallets that pay for calls without a key. */
  readonly wallets?: Wallets | undefined;
  /** Keeps payments from before they are sent until their end is known. In memory when left out. */
  readonly store?: PaymentStore | undefined;
  /** The cookie of a session (`name=value`), which opens `keys`. Pages of the service itself have one already. */
  readonly session?: string | undefined;
  /** Stands in for the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** A key in a page is in the hands of every visitor who opens it. */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** A marketplace of paid agents. */
export class AgentMarketplace {
  /** Drawings, for credits. */
  readonly svg: Svg;
  /** The account's API keys, with a session. */
  readonly keys: Keys;
  /** What the account's agents made, with a key. */
  readonly files: Files;
  /** Calls paid one by one with a wallet, without a key. */
  readonly pay: Pay;
  readonly #http: HttpClient;

  constructor(options: AgentMarketplaceOptions = {}) {
    const { key = fromEnvironment("AGENT_MARKETPLACE_KEY"), session, dangerouslyAllowBrowser } = options;
    const { timeoutMs, maxRetries, onRetry, fetch = globalThis.fetch.bind(globalThis) } = options;
    const baseUrl = options.baseUrl ?? fromEnvironment("AGENT_MARKETPLACE_URL");
    if (!baseUrl) throw new TypeError("Give baseUrl, or set AGENT_MARKETPLACE_URL.");
    refuseUnsendable(baseUrl, { key, session });
    const isPage = "document" in globalThis;
    if (key && isPage && !dangerouslyAllowBrowser) {
      throw new TypeError("A key does not belong in a page. Call from your server, or pay per call with a wallet.");
    }
    const usual = isPage ? {} : { "user-agent": userAgent };
    const httpWith = (headers: Readonly<Record<string, string>>) =>
      new HttpClient({
        baseUrl,
        headers: { ...usual, ...headers },
        fetch,
        options: { timeoutMs, maxRetries, onRetry },
      });
    this.#http = httpWith(key ? { authorization: `Bearer ${key}` } : {});
    this.svg = new Svg(this.#http);
    this.files = new Files(this.#http);
    this.keys = new Keys(httpWith(session ? { cookie: session } : {}));
    const { wallets = {}, store } = options;
    this.pay = new Pay({ http: httpWith({}), withKey: this.#http, wallets, ...(store && { store }) });
  }

  /**
   * Runs an agent for credits. Throws RunFailedError, which costs nothing, when the agent fails, and OutcomeUnknownError when
   * there is no answer: the same call with its `idempotencyKey` fetches the result and is charged once.
   */
  async run(request: RunRequest, options?: ChargingOptions): Promise<RunResult> {
    const { answer, idempotencyKey } = await postOnce(this.#http, "/api/v1/run", request, options);
    const run = answer.body as AnswerOf<"runAgent">;
    if (run.success) return run as RunResult;
    const { run_id: runId, error = "The agent failed." } = run;
    // An effect on a chain whose end was not seen yet is still going on, its credits held; or it succeeded since.
    const record = await this.runDetail(runId, { signal: options?.signal }).catch((cause: unknown) => {
      throw new OutcomeUnknownError(`${error} Whether it is still going on was not answered.`, {
        idempotencyKey,
        cause,
      });
    });
    const isOver = record.state === "failed" || record.state === "lost";
    if (!isOver) throw new OutcomeUnknownError(error, { idempotencyKey });
    throw new RunFailedError(error, { idempotencyKey, runId });
  }

  /** Live agents; with `q` those that match best. */
  list(query: ListQuery = {}, options?: CallOptions): Pages<AgentPage, Agent> {
    return new Pages(
      (cursor) => this.#get("/api/v1/agents", { ...query, cursor }, options),
      ({ agents }) => agents,
    );
  }

  /** One agent, `handle/slug`: its inputs, price and addresses. */
  detail(agent: string, options?: CallOptions): Promise<AgentDetail> {
    return this.#get(`/api/v1/agents/${agentPath(agent)}`, undefined, options);
  }

  balance(options?: CallOptions): Promise<Balance> {
    return this.#get("/api/v1/balance", undefined, options);
  }

  /** The account's runs that the service still keeps, newest first. */
  runs(query: Omit<QueryOf<"listRuns">, "cursor"> = {}, options?: CallOptions): Pages<RunPage, Run> {
    return new Pages(
      (cursor) => this.#get("/api/v1/runs", { ...query, cursor }, options),
      ({ runs }) => runs,
    );
  }

  /** One run and what it answered. */
  runDetail(runId: string, options?: CallOptions): Promise<RunDetail> {
    return this.#get(`/api/v1/runs/${encodeURIComponent(runId)}`, undefined, options);
  }

  async #get<Shape>(path: string, query?: Query, options?: CallOptions): Promise<Shape> {
    const answer = await this.#http.send({ method: "GET", path, query, repeat: "always" }, options);
    if (answer.status >= 400) throw errorOf(answer);
    return answer.body as Shape;
  }
}

/** Throws TypeError for what no request can be made of: sending it would look like a request whose answer was lost. */
function refuseUnsendable(baseUrl: string, headers: Readonly<Record<"key" | "session", string | undefined>>): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new TypeError("The service's address must be like https://market.example, with nothing before the host.");
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value && !/^[ -~]*$/.test(value.trim())) throw new TypeError(`${name} must be printable ASCII characters.`);
  }
}

function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env?.[name] || undefined;
}

const userAgent = `agent-marketplace-client/${version}`;
