import type { Raster } from "../../../tracer/image/raster.ts";
import type { TraceOptions } from "../../../tracer/options.ts";
import type { PreviewAnswer, PreviewQuestion } from "../../../tracer/preview.ts";

/** The options cannot be used; the message says why. */
export class TraceRefusedError extends Error {
  override readonly name = "TraceRefusedError";
}

/**
 * The tracer in a worker of the page, loaded at the first question. Of traces that are asked for while one is under way only
 * the newest is made: the others' promises never end.
 */
export class Tracer {
  readonly #url: string;
  #worker: Worker | undefined;
  #asked = 0;
  readonly #open = new Map<number, (answer: PreviewAnswer) => void>();
  #next: (() => void) | undefined;
  #isTracing = false;

  constructor(url: string) {
    this.#url = url;
  }

  async trace(image: Raster, options: TraceOptions): Promise<Traced> {
    await this.#turn();
    try {
      const answer = await this.#ask({ ask: "trace", image, options });
      if ("svg" in answer) return answer;
      throw new TraceRefusedError("refused" in answer ? answer.refused : "it could not be traced");
    } finally {
      this.#isTracing = false;
      this.#next?.();
    }
  }

  /** The score of a trace of the image, once the page has drawn it. */
  async score(image: Raster, { removed }: Traced, drawn: Raster): Promise<number | undefined> {
    const answer = await this.#ask({ ask: "score", image, drawn, removed });
    return "score" in answer ? answer.score : undefined;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      const begin = () => {
        this.#next = undefined;
        this.#isTracing = true;
        resolve();
      };
      if (this.#isTracing) this.#next = begin;
      else begin();
    });
  }

  #ask(question: WithoutId<PreviewQuestion>): Promise<PreviewAnswer> {
    const id = ++this.#asked;
    this.#worker ??= this.#start();
    const answered = new Promise<PreviewAnswer>((resolve) => this.#open.set(id, resolve));
    this.#worker.postMessage({ ...question, id });
    return answered;
  }

  #start(): Worker {
    const worker = new Worker(trustedUrl(this.#url) as string, { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<PreviewAnswer>) => {
      this.#open.get(data.id)?.(data);
      this.#open.delete(data.id);
    });
    // The worker crashed, which is a bug of ours: open questions are refused, and the next one starts another worker.
    worker.addEventListener("error", () => {
      for (const [id, answer] of this.#open) answer({ id, refused: "the preview stopped" });
      this.#open.clear();
      worker.terminate();
      this.#worker = undefined;
    });
    return worker;
  }
}

/** A preview: its markup, and the colour of the background that was removed, if any. */
export type Traced = Omit<Extract<PreviewAnswer, { readonly svg: string }>, "id">;

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

/** Under trusted types a worker is started from a script address that a policy named in the page's headers lets through. */
function trustedUrl(url: string): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (!trustedTypes) return url;
  policy ??= trustedTypes.createPolicy(policyName, {
    createScriptURL: (asked) => {
      if (new URL(asked, location.href).origin !== location.origin) throw new TypeError("not a script of this service");
      return asked;
    },
  });
  return policy.createScriptURL(url);
}

const policyName = "tracer";
let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}
