import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Keeps a snapshot in a file that is always whole: written beside it and renamed. Saves shortly after a change; under
 * load it spends at most a tenth of the time on saving.
 */
export class StateFile {
  readonly #path: string;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = saveAfterMs;
  #snapshot: (() => string) | undefined;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
  }

  read(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, "utf8") : undefined;
  }

  /** Something changed: `snapshot` is taken and saved soon. */
  changed(snapshot: () => string): void {
    this.#snapshot = snapshot;
    this.#timer ??= setTimeout(() => this.flush(), this.#pauseMs);
  }

  /** Saves now what has changed since the last save. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#snapshot) return;
    const startedAt = performance.now();
    const half = `${this.#path}.half`;
    writeFileSync(half, this.#snapshot());
    renameSync(half, this.#path);
    this.#snapshot = undefined;
    this.#pauseMs = Math.max(saveAfterMs, (performance.now() - startedAt) * 9);
  }
}

const saveAfterMs = 200;
