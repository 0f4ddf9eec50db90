import { type Dispatcher, Pool } from "undici";
import type { Secret } from "../../../shared/env.ts";
import { inSpan, traceHeaders } from "../../../shared/tracing.ts";
import { within } from "../../../shared/within.ts";
import type { SettleResponse, SupportedResponse, VerifyResponse } from "../../../shared/x402.ts";
import type { PaidCallId } from "../payment-payload.ts";
import { ChainStates } from "./chain-states.ts";
import { type FacilitatorHealth, readHealth } from "./health.ts";
import { isOutOfTime } from "./refusal-reasons.ts";

/**
 * The facilitator as any third party speaks to it; a request is the JSON of its body. Its "no" is an answer; no answer is
 * `undefined`, which is never taken for a "no". A facilitator that is busy, or that cannot settle now, gives no answer.
 */
export class FacilitatorClient {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #token: Secret | undefined;
  readonly #chains: ChainStates;
  #supported: { readonly at: number; readonly answer: Promise<SupportedResponse> } | undefined;
  #busyUntil = 0;

  /** `token`: what this resource server is known by at the facilitator, where it has a limit of its own. */
  constructor(url: string, token?: Secret) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, { connections: 64, pipelining: 1, connect: { timeout: connectTimeoutMs } });
    this.#path = pathname.replace(/\/$/, "");
    this.#token = token;
    this.#chains = new ChainStates(() => this.#get("/health"));
  }

  /** Seconds after which it is worth asking again, once it gave no answer: as it said itself, or a few. */
  get retryAfterSeconds(): number {
    return Math.max(retryUsuallySeconds, Math.ceil((this.#busyUntil - Date.now()) / 1_000));
  }

  /** Whether the facilitator says that this network settles now; a network that it does not name counts as settling. At most some seconds old. */
  settlesOn(network: string): Promise<boolean> {
    return this.#chains.settlesOn(network);
  }

  async verify(request: string): Promise<VerifyResponse | undefined> {
    const answer = await this.#post("/verify", request, verifyTimeoutMs);
    if (notJudged.has(answer?.invalidReason)) return undefined;
    return typeof answer?.isValid === "boolean" ? (answer as unknown as VerifyResponse) : undefined;
  }

  /**
   * Settles, and asks once more when the outcome is pending, as the protocol has it. Undefined, or
   * `settlement_pending`: the outcome is not known yet, ask again. `nothingSent`: so it is, but for what this call did. That a
   * payment comes too late by now says nothing of the first attempt.
   */
  async settle(request: string): Promise<SettleResponse | undefined> {
    const first = await this.#settleOnce(request);
    if (first && first.errorReason !== "settlement_pending") return first;
    const second = await this.#settleOnce(request);
    const isNews = second && second.errorReason !== nothingSent && !isOutOfTime(second.errorReason);
    return isNews ? second : first;
  }

  /** Gives up verifications that held a payer's money, so that it can be spent otherwise at once. Done as far as it answers. */
  async release(holdIds: readonly string[]): Promise<void> {
    await Promise.all(holdIds.map((holdId) => this.#post("/release", JSON.stringify({ holdId }), releaseTimeoutMs)));
  }

  /** What the facilitator accepts; read again after a minute, or at once after a failure. Throws when it is not to be had. */
  async supported(): Promise<SupportedResponse> {
    const known = this.#supported;
    if (known && Date.now() - known.at < supportedValidMs) return known.answer;
    const answer = this.#getSupported();
    this.#supported = { at: Date.now(), answer };
    answer.catch(() => {
      this.#supported = undefined;
    });
    return answer;
  }

  /**
   * The resource that its public record says this payment was for; null when it names none, undefined when it has no record of the
   * payment, or lost it and does not know. Throws when it does not answer.
   */
  async paidResource(id: PaidCallId): Promise<string | null | undefined> {
    const record = await this.paymentState(id);
    if (record === undefined) return undefined;
    const { resource_url: resource, found_again } = record as { resource_url?: unknown; found_again?: unknown };
    if (found_again === true) return undefined;
    return typeof resource === "string" ? resource : null;
  }

  /**
   * The facilitator's public record of a payment, unread; undefined when it has none. With `terms`, a termsDigest, its `for_terms` says
   * whether it was paid for these. Throws when the facilitator does not answer.
   */
  async paymentState(id: PaidCallId, terms?: string): Promise<unknown> {
    return this.#record(recordPathOf(id, terms));
  }

  /** The public record of a payment by its transaction, on whichever network that is. */
  async paymentOf(transaction: string): Promise<unknown> {
    return this.#record(`/payments/${encodeURIComponent(transaction)}`);
  }

  async #record(path: string): Promise<unknown> {
    const { status, body } = await this.#get(path);
    if (status !== 200 && status !== 404) throw new Error(`the facilitator answered ${status}`);
    return status === 200 ? JSON.parse(body) : undefined;
  }

  /** Whether the facilitator says that it never had this payment to settle; false where it keeps no record. Throws when it does not answer. */
  async hasNotClaimed(id: PaidCallId): Promise<boolean> {
    const { status, body } = await this.#get(recordPathOf(id));
    return status === 404 && (JSON.parse(body) as Answer).claimed === false;
  }

  /** How it says that it is; undefined when it does not answer within two seconds, or with something else. For people to look at. */
  async health(): Promise<FacilitatorHealth | undefined> {
    const timeouts = { headersTimeout: healthTimeoutMs, bodyTimeout: healthTimeoutMs };
    const answer = this.#ask({ path: `${this.#path}/health`, method: "GET", ...timeouts });
    return within(healthTimeoutMs, answer).then(
      ({ body }) => readHealth(body),
      () => undefined,
    );
  }

  async stop(): Promise<void> {
    await this.#pool.close();
  }

  async #settleOnce(request: string): Promise<SettleResponse | undefined> {
    const answer = await this.#post("/settle", request, settleTimeoutMs);
    // Payer or payee settle too often for now, which says nothing of this payment.
    if (answer?.sent === false) return { ...unsent, errorMessage: String(answer.error) };
    if (notJudged.has(answer?.errorReason) || answer?.errorReason === "rate_limited") return undefined;
    return typeof answer?.success === "boolean" ? (answer as unknown as SettleResponse) : undefined;
  }

  async #getSupported(): Promise<SupportedResponse> {
    const { status, body } = await this.#get("/supported");
    const answer = JSON.parse(body) as SupportedResponse;
    if (status !== 200 || !Array.isArray(answer.kinds)) throw new Error(`the facilitator answered ${status}`);
    return answer;
  }

  #get(path: string): Promise<RawAnswer> {
    const timeouts = { headersTimeout: verifyTimeoutMs, bodyTimeout: verifyTimeoutMs };
    return this.#ask({ path: this.#path + path, method: "GET", ...timeouts });
  }

  async #post(path: string, request: string, timeoutMs: number): Promise<Answer | undefined> {
    try {
      const { status, retryAfter, body } = await this.#ask({
        path: this.#path + path,
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(this.#token && { authorization: `Bearer ${this.#token.reveal()}` }),
        },
        body: request,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      if (!verdictStatuses.has(status)) {
        this.#busyUntil = Date.now() + secondsIn(retryAfter) * 1_000;
        return status === 503 ? unsentIn(body) : undefined;
      }
      // PostgreSQL stores no such text, and what is written together with it would not be written either.
      return body.includes("\\u0000") ? undefined : (JSON.parse(body) as Answer);
    } catch {
      return undefined;
    }
  }

  /** The answer, gathered without a stream, which would be a tenth of what a paid call costs this service. */
  #ask(options: AskOptions): Promise<RawAnswer> {
    const { method, path } = options;
    const [first = ""] = path.slice(this.#path.length + 1).split(/[/?]/);
    const attributes = { "http.request.method": method, "server.name": "facilitator" };
    return inSpan(`${method} /${first}`, attributes, () =>
      this.#dispatch({ ...options, headers: { ...options.headers, ...traceHeaders() } }),
    );
  }

  #dispatch(options: AskOptions): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let status = 0;
      let retryAfter: string | undefined;
      this.#pool.dispatch(options, {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          status = statusCode;
          retryAfter = [headers["retry-after"]].flat()[0];
        },
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes > answerBytesMax) controller.abort(new Error("the facilitator's answer is too long"));
          chunks.push(chunk);
        },
        onResponseEnd: () => resolve({ status, retryAfter, body: Buffer.concat(chunks).toString() }),
        onResponseError: (_controller, error) => reject(error),
      });
    });
  }
}

function recordPathOf({ network, key }: PaidCallId, terms?: string): string {
  const [asset = "", payer = "", nonce = ""] = key.split(":");
  const about = terms === undefined ? {} : { terms };
  return network.startsWith("eip155:")
    ? `/payments?${new URLSearchParams({ network, asset, payer, nonce, ...about })}`
    : `/payments/${encodeURIComponent(key)}?${new URLSearchParams({ network, ...about })}`;
}

type Answer = Readonly<Record<string, unknown>>;

interface AskOptions extends Dispatcher.DispatchOptions {
  readonly method: "GET" | "POST";
  readonly headers?: Record<string, string>;
}

interface RawAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** What is said of a settlement that cannot be made now; undefined where that may have sent something. */
function unsentIn(body: string): Answer | undefined {
  const { sent, error } = JSON.parse(body) as Answer;
  return sent === false ? { sent, error } : undefined;
}

/** Why there is no settlement: the facilitator cannot make one now, and sent nothing of this call. */
export const nothingSent = "nothing_sent";
const unsent = { success: false, errorReason: nothingSent, transaction: "", network: "" } as const;

/** Seconds in a Retry-After header; 0 when it says nothing, or a date. */
function secondsIn(retryAfter: string | undefined): number {
  return /^\d{1,6}$/.test(retryAfter ?? "") ? Math.min(Number(retryAfter), retryMaxSeconds) : 0;
}

/** With any other it has not judged the payment, whatever the body says. */
const verdictStatuses = new Set([200, 400, 413, 422]);
/** The chain or the facilitator's database could not be asked. A facilitator verifies again when it settles, so /settle says either. */
const notJudged: ReadonlySet<unknown> = new Set(["unexpected_verify_error", "unexpected_settle_error"]);
const retryUsuallySeconds = 5;
const retryMaxSeconds = 300;

const connectTimeoutMs = 5_000;
const verifyTimeoutMs = 15_000;
/** The buyer who waits for it has been told of a failure already. */
const releaseTimeoutMs = 3_000;
/** The facilitator answers within 60 s. */
const settleTimeoutMs = 75_000;
const healthTimeoutMs = 2_000;
const answerBytesMax = 1_000_000;
const supportedValidMs = 60_000;
