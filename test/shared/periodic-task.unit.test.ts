import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { startPeriodicTask } from "../../shared/periodic-task.ts";
import { elapse } from "../support/elapse.ts";

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
  await expect.poll(() => began).toBeGreaterThanOrEqual(3);
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

test("a stop tells the run under way, waits for its end, and no other run begins", async ({ onTestFinished }) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let began = 0;
  let ended = 0;
  const task = startPeriodicTask({
    run: async (stopping) => {
      began += 1;
      await once(stopping, "abort");
      await elapse(20, "a run does not end at once");
      ended += 1;
    },
    everyMs: 1,
    failed: () => {},
  });
  const endedAtStop = task.stop().then(() => ended);
  await vi.advanceTimersByTimeAsync(20);
  expect({ began, ended: await endedAtStop }).toEqual({ began: 1, ended: 1 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(began).toBe(1);
});
