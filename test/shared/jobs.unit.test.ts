import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { JobRecord } from "../../shared/job-record.ts";
import { startJobsInTurn } from "../../shared/jobs.ts";

const recording = { jobRecord: new JobRecord(), events: { jobFailed: () => {} } };
const hourMs = 3_600_000;

test("the first runs of jobs come one after another, also after one that fails", async () => {
  let running = 0;
  let atOnce = 0;
  const ended: string[] = [];
  const job = (name: string, fails = false) => ({
    name,
    everyMs: hourMs,
    run: async () => {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await turn();
      running -= 1;
      ended.push(name);
      if (fails) throw new Error("away");
    },
  });
  const jobs = startJobsInTurn(recording, [job("one"), job("two", true), job("three"), job("four")]);
  await expect.poll(() => ended).toEqual(["one", "two", "three", "four"]);
  await jobs.stop();
  expect(atOnce).toBe(1);
});

test("a first run that hangs does not hold up the jobs after it", async () => {
  const hanging = (stopping: AbortSignal) =>
    new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve()));
  const began: string[] = [];
  const jobs = startJobsInTurn(recording, [
    { name: "hangs", everyMs: hourMs, run: hanging },
    { name: "waits", everyMs: hourMs, run: async () => void began.push("waits") },
  ]);
  await expect.poll(() => began).toEqual(["waits"]);
  await jobs.stop();
});

test("a stop while first runs are still to come begins none of them", async ({ onTestFinished }) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const began: string[] = [];
  const job = (name: string) => ({ name, everyMs: hourMs, run: async () => void began.push(name) });
  await startJobsInTurn(recording, [job("one"), job("two")]).stop();
  await vi.advanceTimersByTimeAsync(hourMs);
  expect(began).toEqual([]);
});
