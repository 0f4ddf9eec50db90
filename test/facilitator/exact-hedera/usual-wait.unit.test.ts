import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UsualWait } from "../../../facilitator/schemes/exact-hedera/usual-wait.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Settles one payment after another on a network that takes so long, as submit.ts asks; of each, how long it waited and how often it asked. */
function settle(wait: UsualWait, networkMs: readonly number[]) {
  return networkMs.map((takesMs) => {
    const acceptedAtMs = Date.now();
    const { firstMs, againMs } = wait.schedule;
    let asked = 1;
    let tookMs = firstMs;
    for (let pauseMs = againMs; tookMs < takesMs; pauseMs = Math.min(pauseMs * 1.5, 500)) {
      tookMs += pauseMs;
      asked += 1;
    }
    vi.advanceTimersByTime(tookMs);
    wait.note(acceptedAtMs, tookMs, asked === 1 ? "first" : "again");
    return { tookMs, asked };
  });
}

test("a network that takes two and a half seconds is asked twice, not a dozen times, and a payer waits an eighth of a second longer", () => {
  const wait = new UsualWait();
  const [first] = settle(wait, [2_500]);
  expect(first!.asked).toBeGreaterThan(8);
  settle(
    wait,
    Array.from({ length: 40 }, () => 2_500),
  );
  const later = settle(
    wait,
    Array.from({ length: 100 }, () => 2_500),
  );
  expect(meanOf(later.map(({ asked }) => asked))).toBeLessThan(2.5);
  expect(meanOf(later.map(({ tookMs }) => tookMs))).toBeLessThan(2_625);
});

test("a network that was slow for a while is asked soon again once it is quick", () => {
  const wait = new UsualWait();
  settle(
    wait,
    Array.from({ length: 50 }, () => 20_000),
  );
  const quick = settle(
    wait,
    Array.from({ length: 150 }, () => 25),
  );
  expect(quick[0]!.tookMs).toBeLessThanOrEqual(3_000);
  expect(meanOf(quick.slice(-20).map(({ tookMs }) => tookMs))).toBeLessThan(40);
});

test("payments that were accepted at the same time count as one", () => {
  const [alone, together] = [new UsualWait(), new UsualWait()];
  const at = Date.now();
  alone.note(at, 500, "again");
  vi.advanceTimersByTime(1);
  for (let n = 0; n < 30; n += 1) together.note(at, 500, "again");
  expect(together.schedule).toEqual(alone.schedule);
});

test("whatever a network does, it is asked after at most three seconds, and never all the time", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 60 }), (networkMs) => {
      const wait = new UsualWait();
      settle(wait, networkMs);
      const { firstMs, againMs } = wait.schedule;
      expect(firstMs).toBeGreaterThanOrEqual(5);
      expect(firstMs).toBeLessThanOrEqual(3_000);
      expect(againMs).toBeGreaterThanOrEqual(5);
    }),
  );
});

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
