import { AnswerError, ConnectionError, retryAfterIn } from "./errors.ts";

/** One call of the service. */
export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query | undefined;
  /** JSON, as text, so that every repetition is the same to the byte. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * When it may be sent again: `always`, because the service does it once however often it is sent; or only when it was
   * turned away by a limit, before anything was done.
   */
  readonly repeat: "always" | "turned away";
  /** How often at most, where the client's settings do not say otherwise. */
  readonly retries?: number;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** How one call is made; all of it may be set for all calls. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** For one attempt. A run may take three minutes, a drawing five. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is sent again at most, where that is safe. */
  readonly maxRetries?: number | undefined;
  /** Told before each repetition. */
  readonly onRetry?: ((why: Retry) => void) | undefined;
}

export interface Retry {
  /** Which repetition it is, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  /** The status that was answered; undefined when there was no answer. */
  readonly status: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  /** An earlier attempt had no answer: what it did, this answer need not say. */
  readonly isAfterLoss: boolean;
}

/** Sends calls as JSON and repeats them where that is safe. */
export class HttpClient {
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;
  readonly #options: CallOptions;

  constructor(settings: HttpSettings) {
    this.baseUrl = settings.baseUrl.replace(/\/+$/, "");
    this.#headers = settings.headers;
    this.#fetch = settings.fetch;
    this.#options = given(settings.options);
    timeoutOf(this.#options);
  }

  /** What the service knows the caller by; undefined for a caller without a key. */
  get authorization(): string | undefined {
    return this.#headers.authorization;
  }

  /**
   * What the service answered, whatever its status. Throws the signal's reason where that ended it, and otherwise
   * ConnectionError when there was no answer to the last attempt. A wrong option is thrown at once, not by the promise: nothing
   * was sent then, so its end is known.
   */
  send(call: Call, own: CallOptions = {}): Promise<Answer> {
    const options = { ...this.#options, ...given(own) };
    return this.#send(call, options, timeoutOf(options));
  }

  async #send(call: Call, options: CallOptions, timeoutMs: number): Promise<Answer> {
    const { maxRetries = call.retries ?? usualRetries, signal, onRetry } = options;
    let isAfterLoss = false;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const made = await this.#attempt(call, timeoutMs, signal).catch((cause: unknown) => ({ cause }));
      const answer = "cause" in made ? undefined : { ...made, isAfterLoss };
      if ("cause" in made) {
        if (signal?.aborted) throw signal.reason;
        // After a lost attempt it tells nothing of what that one did.
        if (made.cause instanceof AnswerError && !isAfterLoss) throw made.cause;
        isAfterLoss = true;
      }
      const waitMs = attempt > maxRetries ? undefined : waitBefore(call, answer, attempt);
      if (waitMs === undefined) {
        if (answer) return answer;
        throw new ConnectionError(`No answer from ${this.baseUrl}.`, { cause: (made as { cause: unknown }).cause });
      }
      onRetry?.({ attempt, waitMs, status: answer?.status });
      await pause(waitMs, signal);
    }
  }

  async #attempt(call: Call, timeoutMs: number, sooner: AbortSignal | undefined): Promise<Omit<Answer, "isAfterLoss">> {
    const limit = timeLimit(timeoutMs, sooner);
    return this.#ask(call, limit.signal).finally(limit.lift);
  }

  async #ask(call: Call, signal: AbortSignal): Promise<Omit<Answer, "isAfterLoss">> {
    const { method, path, query, body, headers } = call;
    const response = await this.#fetch(`${this.baseUrl}${path}${textOf(query)}`, {
      method,
      headers: { ...this.#headers, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body }),
      // Neither the key nor a payment may be sent on to another address.
      redirect: "manual",
      signal,
    });
    const { status } = response;
    if (status === 0 || (status >= 300 && status < 400)) throw movedError(response);
    const answered: unknown = await response.json();
    if (typeof answered !== "object" || answered === null) throw new TypeError("The answer is no JSON object.");
    const isService = status < 400 || typeof (answered as { error?: unknown }).error === "string";
    if (!isService) throw new TypeError(`Something before the service answered ${status}.`);
    return { status, headers: response.headers, body: answered as Answer["body"] };
  }
}

/** Ends what it is given to after `ms` or with another signal, until it is lifted. AbortSignal.any can miss it: nodejs/node#57736. */
function timeLimit(ms: number, sooner: AbortSignal | undefined): { readonly signal: AbortSignal; lift(): void } {
  const controller = new AbortController();
  const end = () => controller.abort(sooner?.reason);
  const timer = setTimeout(() => controller.abort(new DOMException("It took too long.", "TimeoutError")), ms);
  sooner?.addEventListener("abort", end);
  if (sooner?.aborted) end();
  const lift = () => {
    clearTimeout(timer);
    sooner?.removeEventListener("abort", end);
  };
  return { signal: controller.signal, lift };
}

/** The timeout in the form that timers take. Throws TypeError before anything is sent. */
function timeoutOf({ timeoutMs = usualTimeoutMs }: CallOptions): number {
  if (timeoutMs > 0) return Math.min(Math.ceil(timeoutMs), longestTimerMs);
  throw new TypeError("timeoutMs must be above 0.");
}

export interface HttpSettings {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly options: CallOptions;
}

/** Undefined: this is the end. A lost attempt may have done its work. */
function waitBefore({ repeat }: Call, answer: Answer | undefined, attempt: number): number | undefined {
  const usual = Math.min(8_000, 500 * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);
  if (!answer) return repeat === "always" ? usual : undefined;
  if (answer.status !== 429 && (repeat !== "always" || !isPassing(answer, attempt))) return undefined;
  const seconds = retryAfterIn(answer.headers);
  if (seconds === undefined) return usual;
  return seconds > longestWaitSeconds ? undefined : Math.max(usual / 10, seconds * 1_000);
}

/** A run that failed is an answer, whatever its status. A 500 that says nothing else is tried once more. */
function isPassing({ status, body }: Answer, attempt: number): boolean {
  if ("success" in body) return false;
  if (status === 500) return attempt === 1;
  return status === 408 || status === 502 || status === 503 || status === 504;
}

const movedError = (response: Response) => {
  const to = response.headers.get("location");
  const body = { error: `The service is elsewhere${to ? `: ${to}` : ""}. Give its own address as baseUrl.` };
  return new AnswerError({ status: response.status, headers: response.headers, body });
};

/** Without options that are undefined, which would hide the options for all calls. */
function given(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function textOf(query: Query = {}): string {
  const named = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return named.length === 0 ? "" : `?${new URLSearchParams(named)}`;
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

const usualTimeoutMs = 300_000;
const longestTimerMs = 2_147_483_647;
const usualRetries = 3;
const longestWaitSeconds = 60;
