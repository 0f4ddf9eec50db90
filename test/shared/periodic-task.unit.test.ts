import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startPeriodicTask } from "../../shared/periodic-task.ts";

test("a run that throws is reported, and the next run comes all the same", async () => {
  const failures: unknown[] = [];
  let began = 0;
  const task = startPeriodicTask({
    run: async () => {
      began += 1;
      if (began === 1) throw new Error("away");
    },
    everyMs: 1,
    failed: (error) => failures.push(error),
  });
  while (began < 3) await pause(1);
  await task.stop();
  expect(failures).toEqual([new Error("away")]);
});

test("a run that threw is tried again sooner, for as long as it throws", async ({ onTestFinished }) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const began: number[] = [];
  const task = startPeriodicTask({
    run: async () => {
      began.push(Date.now());
      if (began.length === 2 || began.length === 3) throw new Error("away");
    },
    everyMs: 15_000,
    retryMs: 1_000,
    failed: () => {},
  });
  await vi.advanceTimersByTimeAsync(40_000);
  await task.stop();
  const waited = began.slice(1).map((at, index) => at - began[index]!);
  expect(waited).toEqual([15_000, 1_000, 1_000, 15_000]);
});

test("a stop tells the run under way, waits for its end, and no other run begins", async () => {
  let began = 0;
  let ended = 0;
  const task = startPeriodicTask({
    run: async (stopping) => {
      began += 1;
      while (!stopping.aborted) await pause(1);
      await pause(20);
      ended += 1;
    },
    everyMs: 1,
    failed: () => {},
  });
  while (began === 0) await pause(1);
  await task.stop();
  expect({ began, ended }).toEqual({ began: 1, ended: 1 });
  await pause(20);
  expect(began).toBe(1);
});
