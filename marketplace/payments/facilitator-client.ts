import { type Dispatcher, Pool } from "undici";
import type { SettleResponse, SupportedResponse, VerifyResponse } from "../../shared/x402.ts";

/**
 * The facilitator as any third party speaks to it; a request is the JSON of its body. Its "no" is an answer; no answer is
 * `undefined`, which is never taken for a "no".
 */
export class FacilitatorClient {
  readonly #pool: Pool;
  readonly #path: string;
  #supported: { readonly at: number; readonly answer: Promise<SupportedResponse> } | undefined;

  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, { connections: 64, pipelining: 1, connect: { timeout: connectTimeoutMs } });
    this.#path = pathname.replace(/\/$/, "");
  }

  async verify(request: string): Promise<VerifyResponse | undefined> {
    const answer = await this.#post("/verify", request, verifyTimeoutMs);
    return typeof answer?.isValid === "boolean" ? (answer as unknown as VerifyResponse) : undefined;
  }

  /**
   * Settles, and asks once more when the outcome is pending, as the protocol has it. Undefined, or
   * `settlement_pending`: nobody knows yet, ask again.
   */
  async settle(request: string): Promise<SettleResponse | undefined> {
    const first = await this.#settleOnce(request);
    if (first && first.errorReason !== "settlement_pending") return first;
    return (await this.#settleOnce(request)) ?? first;
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

  async stop(): Promise<void> {
    await this.#pool.close();
  }

  async #settleOnce(request: string): Promise<SettleResponse | undefined> {
    const answer = await this.#post("/settle", request, settleTimeoutMs);
    return typeof answer?.success === "boolean" ? (answer as unknown as SettleResponse) : undefined;
  }

  async #getSupported(): Promise<SupportedResponse> {
    const { statusCode, body } = await this.#pool.request({
      path: `${this.#path}/supported`,
      method: "GET",
      headersTimeout: verifyTimeoutMs,
      bodyTimeout: verifyTimeoutMs,
    });
    const answer = (await body.json()) as SupportedResponse;
    if (statusCode !== 200 || !Array.isArray(answer.kinds)) throw new Error(`the facilitator answered ${statusCode}`);
    return answer;
  }

  async #post(path: string, request: string, timeoutMs: number): Promise<Answer | undefined> {
    try {
      const answer = await this.#ask({
        path: this.#path + path,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: request,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      // PostgreSQL stores no such text, and what is written together with it would not be written either.
      return answer.includes("\\u0000") ? undefined : (JSON.parse(answer) as Answer);
    } catch {
      return undefined;
    }
  }

  /** The answer's body, gathered without a stream, which would be a tenth of what a paid call costs this service. */
  #ask(options: Dispatcher.DispatchOptions): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      this.#pool.dispatch(options, {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes > answerBytesMax) controller.abort(new Error("the facilitator's answer is too long"));
          chunks.push(chunk);
        },
        onResponseEnd: () => resolve(Buffer.concat(chunks).toString()),
        onResponseError: (_controller, error) => reject(error),
      });
    });
  }
}

type Answer = Readonly<Record<string, unknown>>;

const connectTimeoutMs = 5_000;
const verifyTimeoutMs = 15_000;
/** The facilitator answers within 60 s. */
const settleTimeoutMs = 75_000;
const answerBytesMax = 1_000_000;
const supportedValidMs = 60_000;
