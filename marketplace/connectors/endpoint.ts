import { Pool } from "undici";
import { timeLimit } from "../../shared/time-limit.ts";

const bytesMax = 8_388_608;

/** A JSON service that the operator configured. Throws EndpointSilentError when there is no answer to rely on. */
export class Endpoint {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #headers: () => Record<string, string>;

  constructor(baseUrl: string, headers: () => Record<string, string> = () => ({})) {
    const { origin, pathname } = new URL(baseUrl);
    this.#pool = new Pool(origin, { connections: 64, connect: { timeout: 3_000 }, maxResponseSize: bytesMax });
    this.#basePath = pathname.replace(/\/$/, "");
    this.#headers = headers;
  }

  async get(path: string, signal?: AbortSignal): Promise<EndpointAnswer> {
    const limit = timeLimit(timeoutMs, signal);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: "GET",
        path: `${this.#basePath}${path}`,
        headers: { accept: "application/json", ...this.#headers() },
        signal: limit.signal,
      });
      body.on("error", () => {});
      return { status: statusCode, headers, body: parsed(await body.text()) };
    } catch (error) {
      if (signal?.aborted) throw error;
      const { code, name } = error as { code?: string; name?: string };
      throw new EndpointSilentError(code ?? name ?? "unknown");
    } finally {
      limit.lift();
    }
  }

  stop(): Promise<void> {
    return this.#pool.destroy();
  }
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined when it was no JSON. Whole numbers of 16 digits and more, in which chains count, are texts. */
  readonly body: unknown;
}

/** `message` is a code for the log. */
export class EndpointSilentError extends Error {
  override readonly name = "EndpointSilentError";
}

const timeoutMs = 8_000;

function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return longNumber.test(text) ? JSON.parse(text.replaceAll(textOrLongNumber, asText)) : body;
  } catch {
    return undefined;
  }
}

/** A JavaScript number holds no whole number of so many digits for sure. */
const longNumber = /[:,[]\s*-?\d{16}/;
const textOrLongNumber = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const asText = (found: string) => (found.startsWith('"') ? found : `"${found}"`);
