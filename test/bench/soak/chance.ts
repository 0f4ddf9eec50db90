/** Chance as a seed decides it: the same faults and the same buyers again, as far as clocks and processes let them come alike. */
let state = Math.floor(Math.random() * 2 ** 32);

export function seedChance(seed: number): void {
  state = seed >>> 0;
}

/** Mulberry32: 0 to below 1. */
export function chance(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

export const between = (least: number, most: number): number => least + chance() * (most - least);

/** All of them, in another order. */
export function shuffled<T>(from: readonly T[]): readonly T[] {
  return from
    .map((one) => ({ one, place: chance() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ one }) => one);
}

export const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;
