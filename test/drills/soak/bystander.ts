import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Service } from "../../support/service.ts";

const restMs = 50;
const callTimeoutMs = 20_000;

/** A visitor who buys nothing: asks one page of each copy, one after the other, as long as that copy is up. */
export class Bystander {
  /** Of each question that was answered. */
  readonly tookMs: number[] = [];
  /** Answers that are neither what was asked for nor a true 503. */
  readonly wrong: string[] = [];
  readonly #agent = new Agent({ connectTimeout: 2_000 });
  readonly #pages: ReadonlyArray<{ service: Service; path: string }>;
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(pages: ReadonlyArray<{ service: Service; path: string }>) {
    this.#pages = pages;
  }

  start(): void {
    this.#working = Promise.all(this.#pages.map(({ service, path }) => this.#work(service, path)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await this.#agent.close();
  }

  /** Within so many milliseconds this share of the questions was answered. */
  answeredWithinMs(share: number): number {
    const sorted = this.tookMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }

  async #work(service: Service, path: string): Promise<void> {
    while (!this.#stopped) {
      if (service.isUp) await this.#ask(service.url + path);
      await sleep(restMs);
    }
  }

  /** A copy that is killed, or has not begun to listen, answers nothing: its balancer would ask another one. */
  async #ask(url: string): Promise<void> {
    const begunAt = performance.now();
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      await body.dump();
      this.tookMs.push(performance.now() - begunAt);
      const isTrue = statusCode < 400 || (statusCode === 503 && headers["retry-after"] !== undefined);
      if (!isTrue) this.wrong.push(`${url} answered ${statusCode}`);
    } catch (error) {
      if ((error as Error).name === "TimeoutError") this.wrong.push(`${url} did not answer`);
    }
  }
}
