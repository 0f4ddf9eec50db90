import { type Dispatcher, request } from "undici";
import type { Secret } from "../../shared/env.ts";

/** What a server without a model says on every answer (infra/mock-models); a provider of models never does. */
const mockHeader = "x-model-stand-in";

/** Knows whether there is a model behind an endpoint: by its last answer, or, where that is a while ago, by asking. */
export class MockModelDetector {
  readonly #endpoint: { readonly baseUrl: string; readonly apiKey: Secret | undefined };
  readonly #dispatcher: Dispatcher;
  #known: { readonly isMock: boolean; readonly until: number } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(endpoint: { readonly baseUrl: string; readonly apiKey: Secret | undefined }, dispatcher: Dispatcher) {
    this.#endpoint = endpoint;
    this.#dispatcher = dispatcher;
  }

  note(headers: Readonly<Record<string, unknown>>): boolean {
    const isMock = headers[mockHeader] === "true";
    this.#known = { isMock, until: Date.now() + knownMs };
    return isMock;
  }

  /** Throws when the endpoint cannot be reached. */
  async isMock(): Promise<boolean> {
    if (this.#known && this.#known.until > Date.now()) return this.#known.isMock;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** The list of models costs nothing anywhere; an endpoint without one answers too. */
  async #ask(): Promise<boolean> {
    const { baseUrl, apiKey } = this.#endpoint;
    const { headers, body } = await request(`${baseUrl}/models`, {
      dispatcher: this.#dispatcher,
      headers: { accept: "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {}) },
      headersTimeout: askMs,
      bodyTimeout: askMs,
    });
    await body.dump({ limit: 1_000_000 });
    return this.note(headers);
  }
}

const knownMs = 60_000;
const askMs = 5_000;
