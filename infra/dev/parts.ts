import { killGroup } from "./child.ts";
import type { StackLock } from "./stack-lock.ts";

/** What runs, in the order it must stop: the two services first, then the backing services that they use. */
export class Parts {
  readonly #lock: StackLock;
  readonly #parts: Part[] = [];
  readonly #fail: (error: Error) => void;
  #stopping: Promise<void> | undefined;

  constructor(lock: StackLock, fail: (error: Error) => void) {
    this.#lock = lock;
    this.#fail = fail;
  }

  /** Takes charge of something started. When all is being stopped already, stops it too and throws. */
  async adopt(part: Part): Promise<void> {
    if (this.#stopping) {
      await stop(part);
      throw new Error("stopped while starting");
    }
    this.#parts.push(part);
    if (part.pid) this.#lock.note(part.name, part.pid);
  }

  /** Reports the first process that ended without being stopped. */
  watch(died: Promise<Error>): void {
    void died.then((error) => {
      if (!this.#stopping) this.#fail(error);
    });
  }

  /** Stops everything within 4 s, by force where asking does not help. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const kind of ["service", "backing"] as const) {
      await Promise.all(this.#parts.filter((part) => part.kind === kind).map(stop));
    }
  }
}

export interface Part {
  readonly name: string;
  readonly kind: "service" | "backing";
  /** Leader of a process group; none for what runs in this very process. */
  readonly pid?: number;
  stop(): Promise<void>;
}

const patienceMs = { service: 2_500, backing: 1_500 };

async function stop(part: Part): Promise<void> {
  let impatience: NodeJS.Timeout | undefined;
  const forced = new Promise<void>((resolve) => {
    impatience = setTimeout(() => {
      if (part.pid) killGroup(part.pid);
      resolve();
    }, patienceMs[part.kind]);
  });
  await Promise.race([part.stop().catch(() => {}), forced]);
  clearTimeout(impatience);
}
