import { Pool } from "undici";
import { inSpan } from "../../../shared/tracing.ts";
import { NetworkAwayError } from "../scheme.ts";

/**
 * A JSON-RPC client for one node. Calls made while others are under way travel together in one batch, so that its load
 * on the node grows slower than the number of payments in flight. Nothing is cached, and nothing is retried but a batch that the node
 * refuses as a whole, in smaller ones: nodes take from three calls to a thousand.
 */
export class JsonRpc {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  #waiting: Call[] = [];
  #posts = 0;
  #scheduled = false;
  /** What the node refused is not tried again for a while. */
  #smaller: { readonly batchMax: number; readonly untilMs: number } | undefined;

  constructor(url: string, timeoutMs: number) {
    const { origin, pathname, search, username, password } = new URL(url);
    this.#pool = new Pool(origin, { connections: postsMax, pipelining: 1, keepAliveTimeout: 60_000 });
    this.#path = `${pathname}${search}`;
    this.#timeoutMs = timeoutMs;
    const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
    this.#headers = { "content-type": "application/json", ...(username && { authorization: `Basic ${basic}` }) };
  }

  /** Throws RpcError when the node says no, RpcUnreachableError when it is not known whether the call was carried out. */
  call(method: string, params: readonly unknown[]): Promise<unknown> {
    const asked = () =>
      new Promise((resolve, reject) => {
        this.#waiting.push({ method, params, since: performance.now(), resolve, reject });
        this.#schedule();
      });
    return inSpan(method, { "rpc.system": "jsonrpc", "rpc.method": method }, asked);
  }

  async stop(): Promise<void> {
    await this.#pool.destroy();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#posts >= postsMax) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#giveUpLate();
      const calls = this.#waiting.splice(0, this.#batchMax);
      if (calls.length === 0) return;
      this.#posts += 1;
      this.#post(calls).finally(() => {
        this.#posts -= 1;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  get #batchMax(): number {
    return this.#smaller && Date.now() < this.#smaller.untilMs ? this.#smaller.batchMax : batchUsualMax;
  }

  /** Behind a node that hangs, calls would wait for minutes, and what they were for would go on long after its caller has. */
  #giveUpLate(): void {
    const oldest = performance.now() - this.#timeoutMs;
    const kept = this.#waiting.findIndex(({ since }) => since >= oldest);
    const late = this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept);
    for (const { reject, method } of late) reject(new RpcUnreachableError(`the node is busy; ${method} was not sent`));
  }

  async #post(calls: readonly Call[]): Promise<void> {
    try {
      const messages = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
      const answers = await this.#request(messages.length === 1 ? (messages[0] as object) : messages);
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      calls.forEach((call, id) => {
        settle(call, byId.get(id));
      });
    } catch (error) {
      if (error instanceof RefusedError && calls.length > 1) return this.#postSmaller(calls);
      // It is not the batches that the node refuses, as it shows soon.
      if (error instanceof RefusedError && this.#smaller)
        this.#smaller = { ...this.#smaller, untilMs: Date.now() + singleKeptMs };
      for (const { reject } of calls) reject(new RpcUnreachableError(describe(error), { cause: error }));
    }
  }

  /** They come first again. A call that was carried out after all changes nothing when it is made again. */
  #postSmaller(calls: readonly Call[]): void {
    const batchMax = Math.min(this.#batchMax, Math.floor(calls.length / 2));
    this.#smaller = { batchMax, untilMs: Date.now() + smallerKeptMs };
    this.#waiting.unshift(...calls);
  }

  /** Throws RefusedError when the node says that it carried out nothing of it. */
  async #request(body: object): Promise<readonly Answer[]> {
    const { statusCode, body: response } = await this.#pool.request({
      method: "POST",
      path: this.#path,
      headers: this.#headers,
      body: JSON.stringify(body),
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    // What a node says to one call it may say with a 400.
    if (statusCode !== 200 && (statusCode !== 400 || Array.isArray(body))) {
      await response.dump();
      const message = `the node answered HTTP ${statusCode}`;
      throw refusesBatch.has(statusCode) ? new RefusedError(message) : new Error(message);
    }
    const answers = (await response.json()) as Answer | readonly Answer[];
    if (Array.isArray(answers)) return answers;
    const { error } = answers as Answer;
    if (Array.isArray(body) && error && !isBusy(error)) throw new RefusedError(error.message);
    return [answers as Answer];
  }
}

/** The node understood and refused. `data` is the revert data, where there is any. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Whether the error is a contract's revert, whose words are the contract's own. */
export function isOfContract({ code, message }: Pick<RpcError, "code" | "message">): boolean {
  return code === 3 || /revert/i.test(message);
}

/** Whether the call was carried out and failed, by revert or otherwise. Else the node has not said what it was asked. */
export function isFailedCall(error: RpcError): boolean {
  return isOfContract(error) || error.code === vmExecutionError || callFailures.test(error.message);
}

/** OpenEthereum's and Nethermind's. */
const vmExecutionError = -32015;
/** The messages of geth, Besu and revm (Reth, Anvil). */
const callFailures =
  /out ?of ?gas|(intrinsic|floor data) gas|invalid ?(fe)?opcode|opcode ?not ?found|invalid ?jump|stack ?(under|over)flow/i;

/** No answer: the call may or may not have been carried out. Carries no URL, since URLs hold keys. */
export class RpcUnreachableError extends NetworkAwayError {
  override readonly name = "RpcUnreachableError";
}

/** The node takes no batch of that size, or nothing at all. */
class RefusedError extends Error {}

/** How nodes refuse a batch that is too large for them, where they do not answer with one error for all of it. */
const refusesBatch: ReadonlySet<number> = new Set([400, 413, 500]);
const batchUsualMax = 40;
const smallerKeptMs = 600_000;
const singleKeptMs = 1_000;
const postsMax = 4;

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
  /** By `performance.now()`. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

function settle(call: Call, answer: Answer | undefined): void {
  if (!answer) call.reject(new RpcUnreachableError(`the node did not answer ${call.method}`));
  else if (answer.error && isBusy(answer.error))
    call.reject(new RpcUnreachableError("the node answers no more calls now"));
  else if (answer.error) call.reject(new RpcError(answer.error.code, answer.error.message, answer.error.data));
  else call.resolve(answer.result);
}

/** Not what a contract reverted with. */
function isBusy(error: NonNullable<Answer["error"]>): boolean {
  if (busyCodes.includes(error.code)) return true;
  return !isOfContract(error) && error.data === undefined && /rate limit|^too many requests/i.test(error.message);
}

/** EIP-1474 "limit exceeded"; QuickNode; mainnet.base.org "over rate limit". */
const busyCodes = [429, -32005, -32007, -32016];

function describe(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === "TimeoutError") return "the node did not answer in time";
  return code ? `the node could not be reached (${code})` : `the node gave no usable answer (${message})`;
}
