import { expect, onTestFinished, test, vi } from "vitest";
import { batched } from "../../shared/batch.ts";

test("calls made together share one load, and each gets its own answer", async () => {
  const loads: number[][] = [];
  const double = batched<number, number>(
    async (keys) => {
      loads.push([...keys]);
      return keys.map((key) => key * 2);
    },
    { sizeMax: 3, windowMs: 0 },
  );
  expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8]);
  expect(loads).toEqual([[1, 2, 3], [4]]);
});

test("a failed load fails all who shared it and nobody after them", async () => {
  let broken = true;
  const get = batched<number, number>(
    async (keys) => {
      if (broken) throw new Error("down");
      return keys;
    },
    { sizeMax: 10, windowMs: 0 },
  );
  expect((await Promise.allSettled([get(1), get(2)])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  broken = false;
  expect(await get(3)).toBe(3);
});

test("loads keep their spacing: a call that comes alone waits for nothing, those right after it share the next load", async () => {
  vi.useFakeTimers({ toFake: ["performance", "setImmediate", "setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const loads: number[][] = [];
  const get = batched<number, number>(
    async (keys) => {
      loads.push([...keys]);
      return keys;
    },
    { sizeMax: 10, windowMs: 0, spacingMs: 8 },
  );
  void get(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(loads).toEqual([[1]]);
  await vi.advanceTimersByTimeAsync(3);
  void get(2);
  await vi.advanceTimersByTimeAsync(4);
  void get(3);
  expect(loads).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(loads).toEqual([[1], [2, 3]]);
  await vi.advanceTimersByTimeAsync(8);
  void get(4);
  await vi.advanceTimersByTimeAsync(0);
  expect(loads).toEqual([[1], [2, 3], [4]]);
});
