import { errorOf } from "./errors.ts";
import type { Call, CallOptions, HttpClient } from "./http-client.ts";
import { Pages } from "./pages.ts";
import type { AnswerOf, BodyOf, NewKey } from "./shapes.ts";

type KeyCalls = AnswerOf<"listApiKeyCalls">;

/** The account's API keys. They are its holder's: a session opens them, and never a key. */
export class Keys {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  list(options?: CallOptions): Promise<AnswerOf<"listApiKeys">> {
    return this.#send({ method: "GET", path: keysPath, repeat: "always" }, options);
  }

  /** The key is in this answer and nowhere else. It is not sent again by itself: each time makes another key. */
  create(request: BodyOf<"createApiKey">, options?: CallOptions): Promise<NewKey> {
    const body = JSON.stringify(request);
    return this.#send({ method: "POST", path: keysPath, body, repeat: "turned away" }, options);
  }

  change(id: string, changes: BodyOf<"changeApiKey">, options?: CallOptions): Promise<AnswerOf<"changeApiKey">> {
    const body = JSON.stringify(changes);
    return this.#send({ method: "PATCH", path: pathOf(id), body, repeat: "always" }, options);
  }

  revoke(id: string, options?: CallOptions): Promise<AnswerOf<"revokeApiKey">> {
    return this.#send({ method: "DELETE", path: pathOf(id), repeat: "always" }, options);
  }

  /** The runs that a key asked for, newest first. */
  calls(id: string, options?: CallOptions): Pages<KeyCalls, KeyCalls["calls"][number]> {
    const path = `${pathOf(id)}/calls`;
    const read = (cursor: string | undefined) =>
      this.#send<KeyCalls>({ method: "GET", path, query: { cursor }, repeat: "always" }, options);
    return new Pages(read, ({ calls }) => calls);
  }

  async #send<Shape>(call: Call, options?: CallOptions): Promise<Shape> {
    const answer = await this.#http.send(call, options);
    if (answer.status >= 400) throw errorOf(answer);
    return answer.body as Shape;
  }
}

const keysPath = "/api/account/keys";
const pathOf = (id: string) => `${keysPath}/${encodeURIComponent(id)}`;
