import { errorOf } from "./errors.ts";
import type { Call, CallOptions, HttpClient } from "./http-client.ts";
import type { AnswerOf, QueryOf } from "./shapes.ts";

/** What the account's agents, and its own drawings, made. */
export class Files {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** A page of them, newest first. */
  list(query: QueryOf<"listFiles"> = {}, options?: CallOptions): Promise<AnswerOf<"listFiles">> {
    return this.#send({ method: "GET", path: filesPath, query, repeat: "always" }, options);
  }

  /** Takes a file down; `show` brings it back. */
  hide(name: string, options?: CallOptions): Promise<AnswerOf<"hideFile">> {
    return this.#send({ method: "POST", path: `${pathOf(name)}/hide`, repeat: "always" }, options);
  }

  show(name: string, options?: CallOptions): Promise<AnswerOf<"showFile">> {
    return this.#send({ method: "POST", path: `${pathOf(name)}/show`, repeat: "always" }, options);
  }

  /** For good, and its room is free. Throws with status 409 while a buyer may still fetch it. */
  delete(name: string, options?: CallOptions): Promise<AnswerOf<"deleteFile">> {
    return this.#send({ method: "DELETE", path: pathOf(name), repeat: "always" }, options);
  }

  async #send<Shape>(call: Call, options?: CallOptions): Promise<Shape> {
    const answer = await this.#http.send(call, options);
    if (answer.status >= 400) throw errorOf(answer);
    return answer.body as Shape;
  }
}

const filesPath = "/api/v1/files";
const pathOf = (name: string) => `${filesPath}/${encodeURIComponent(name)}`;
