import { createHash } from "node:crypto";
import { inject } from "vitest";

/** `npm run test:all` leaves nothing out. */
export const isWhole = process.env.FUZZ === "all";

/**
 * What takes too long to test whole in each run is tested in part, another part each time. The run prints its seed
 * (global-setup.ts), and with `SEED` set to it tests the same again.
 */
function drawn(name: string): number {
  return (
    createHash("sha256")
      .update(`${inject("seed")} ${name}`)
      .digest()
      .readUInt32LE() /
    2 ** 32
  );
}

/** That part of `all`, `name` being what they are. */
export function sampleOf<T>(all: readonly T[], share: number, name: string): T[] {
  return isWhole ? [...all] : all.filter((_, index) => drawn(`${name} ${index}`) < share);
}

/** One of them. */
export function oneOf<T>(all: readonly T[], name: string): T[] {
  const at = Math.floor(drawn(name) * all.length);
  return isWhole ? [...all] : all.slice(at, at + 1);
}
