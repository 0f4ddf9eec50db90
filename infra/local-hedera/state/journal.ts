import type { History } from "./history.ts";

/** Every change one transaction makes goes through here, so that a failing handler leaves no trace. */
export class Journal {
  readonly #history: History;
  readonly #undo: (() => void)[] = [];

  constructor(history: History) {
    this.#history = history;
  }

  set<T extends object, K extends keyof T>(target: T, property: K, value: T[K]): void {
    const before = target[property];
    this.#history.remember(target);
    this.#undo.push(() => {
      target[property] = before;
    });
    target[property] = value;
  }

  put<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key);
    this.#undo.push(() => {
      if (before === undefined) map.delete(key);
      else map.set(key, before);
    });
    map.set(key, value);
  }

  remove<K, V>(map: Map<K, V>, key: K): void {
    const before = map.get(key);
    if (before === undefined) return;
    this.#undo.push(() => map.set(key, before));
    map.delete(key);
  }

  rollback(): void {
    while (this.#undo.length > 0) this.#undo.pop()!();
  }
}
