import { once } from "node:events";
import { request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { expect } from "vitest";
import { type Answer, call } from "./marketplace.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

/** How a call differs from its operation's example. */
export interface Change {
  readonly params?: Readonly<Record<string, string>>;
  /** Of the address, from the question mark on. */
  readonly query?: string;
  /** In place of the example's body. */
  readonly body?: unknown;
  /** Fields of the example's body that are otherwise. */
  readonly but?: object;
  readonly as?: Caller;
  readonly headers?: Record<string, string>;
  /** Another copy of the service. */
  readonly at?: string;
}

export interface Caller {
  readonly key?: string;
  readonly cookie?: string;
}

interface BegunCall {
  readonly answer: Promise<Answer>;
  end(): void;
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly access: "public" | "apiKey" | "session";
  readonly said: Json;
}

/** Sends the examples of an OpenAPI document to the service it is of, and keeps which of the documented answers came. */
export class ExampleCalls {
  readonly operations: ReadonlyMap<string, Operation>;
  readonly met = new Map<string, Answer>();
  readonly #same = new Set<string>();
  readonly url: string;
  readonly #callerOf: (operation: Operation) => Caller;
  #addresses = 0;

  constructor(document: Json, url: string, callerOf: (operation: Operation) => Caller) {
    this.operations = new Map(operationsIn(document).map((operation) => [operation.id, operation]));
    this.url = url;
    this.#callerOf = callerOf;
  }

  /** The answer to the operation's example, changed; from an address of its own. */
  async send(id: string, change: Change = {}): Promise<Answer> {
    const { at, path, ...request } = this.#requestOf(id, change);
    return this.note(id, await call(at, path, request));
  }

  /** The answer to so many bytes of body being announced, of which none come. */
  async announce(id: string, bytes: number, change: Change = {}): Promise<Answer> {
    return this.begin(id, change, bytes).answer;
  }

  /** Sends the head of a request, and its body when told to. */
  begin(id: string, change: Change = {}, bytes?: number): BegunCall {
    const { at, path, method, headers, key, body } = this.#requestOf(id, change);
    const text = JSON.stringify(body);
    const length = String(bytes ?? Buffer.byteLength(text));
    const more = { "content-length": length, "content-type": "application/json", expect: "100-continue" };
    const asked = request(at + path, { method, headers: { ...more, ...headers, ...(key && bearer(key)) } });
    asked.on("error", () => {});
    const answer = once(asked, "response").then(async ([response]) => {
      const said = await textOf(response);
      asked.destroy();
      const { statusCode: status } = response;
      return this.note(id, { status, headers: new Headers(response.headers), text: said, body: JSON.parse(said) });
    });
    return { answer, end: () => asked.end(text) };
  }

  /** The answer to the same request with a second `Host` header. */
  async askAsTwoHosts(id: string): Promise<Answer> {
    const { at, path, method } = this.#requestOf(id, {});
    const asked = request(at + path, { method, headers: ["Host", "one.example", "Host", "two.example"] });
    const [response] = await once(asked.end(), "response");
    const said = await textOf(response);
    const { statusCode: status } = response;
    return this.note(id, { status, headers: new Headers(response.headers), text: said, body: JSON.parse(said) });
  }

  #requestOf(id: string, change: Change) {
    const operation = this.operations.get(id);
    if (!operation) throw new Error(`there is no operation ${id}`);
    const { method, path, said } = operation;
    const { params = {}, query = "", headers = {}, at = this.url, as = this.#callerOf(operation) } = change;
    const [[mediaType, { example }] = ["application/json", {}]] = Object.entries<Json>(said.requestBody?.content ?? {});
    const isForm = mediaType === form;
    const given = "body" in change ? change.body : change.but ? { ...example, ...change.but } : example;
    const address = path.replaceAll(
      /\{(\w+)\}/g,
      (_whole, name) => params[name] ?? usualParams[name] ?? unknownId(name),
    );
    this.#addresses += 1;
    const from = `10.${this.#addresses >> 16}.${(this.#addresses >> 8) & 255}.${this.#addresses & 255}`;
    return {
      at,
      path: address + query,
      method: method.toUpperCase(),
      body: isForm && typeof given === "object" ? new URLSearchParams(given).toString() : given,
      ...(as.key && { key: as.key }),
      headers: {
        "x-forwarded-for": from,
        ...(isForm && { "content-type": form }),
        ...(as.cookie && { cookie: as.cookie }),
        ...headers,
      },
    };
  }

  /** An answer to it that was had otherwise. */
  note(id: string, answer: Answer): Answer {
    this.met.set(`${id} ${answer.status}`, answer);
    return answer;
  }

  /** The same, where the answer is to have that status. An error must be worded as the document's example of it. */
  async expect(id: string, status: number, change: Change = {}): Promise<Answer> {
    return this.hold(id, status, await this.send(id, change));
  }

  /** The same, where there are more words for that status than one example has. */
  async meet(id: string, status: number, change: Change = {}): Promise<Answer> {
    const answer = await this.send(id, change);
    expect.soft(answer.status, `${id}: ${answer.text.slice(0, 500)}`).toBe(status);
    return answer;
  }

  /** Holds an answer against the status it should have, and its words against the document's example. */
  hold(id: string, status: number, answer: Answer): Answer {
    this.note(id, answer);
    expect.soft(answer.status, `${id}: ${answer.text.slice(0, 500)}`).toBe(status);
    const example = this.#exampleOf(id, status);
    if (answer.status === status && status >= 400 && example !== undefined) {
      expect.soft(wordsOf(answer.body), `${id} ${status}`).toEqual(wordsOf(example));
    }
    return answer;
  }

  /** The documented answers that did not come, nor are the same as one that came. */
  missing(): string[] {
    const documented = [...this.operations.values()].flatMap(({ id, said }) =>
      Object.keys(said.responses).flatMap((status) => (status === "default" ? [] : [`${id} ${status}`])),
    );
    return documented.filter((answer) => !this.met.has(answer) && !this.#same.has(answer));
  }

  /** What the document shows of it, if anything. */
  #exampleOf(id: string, status: number): Json {
    return this.operations.get(id)?.said.responses[status]?.content?.["application/json"]?.example;
  }

  /** Of an answer that any operation gives alike, whichever is asked: those that show the same have none to be provoked. */
  sameOfAll(status: number, { body }: Answer): void {
    for (const { id } of this.operations.values()) {
      const example = this.#exampleOf(id, status);
      if (example === undefined || this.met.has(`${id} ${status}`)) continue;
      if (JSON.stringify(wordsOf(example)) === JSON.stringify(wordsOf(body))) this.#same.add(`${id} ${status}`);
    }
  }
}

const form = "application/x-www-form-urlencoded";
/** An id that nothing has. */
const unknownId = (name: string) => (name === "run_id" ? "run_" : "any_") + "0".repeat(26);
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const usualParams: Readonly<Record<string, string>> = { handle: "ada", slug: "summarizer", version: "1" };

function operationsIn(document: Json): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, said]) => {
      const [scheme] = said.security.flatMap((way: object) => Object.keys(way));
      return { id: said.operationId, method, path, access: scheme ?? "public", said };
    }),
  );
}

/** What is said, and of which field; ids, dates and numbers are another's each time. */
function wordsOf({ error, field, error_description }: Json) {
  const words = String(error.message ?? error_description ?? error)
    .replaceAll(/\d{4}-\d\d-\d\d/g, "<date>")
    .replaceAll(/\b[a-z]{3}_[0-9a-z]{26}/g, "<id>")
    .replaceAll(/\d[\d,]*/g, "<n>");
  return { error: words, ...(field !== undefined && { field }) };
}
