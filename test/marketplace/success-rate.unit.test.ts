import { expect, test } from "vitest";
import { asFigures, successRate } from "../../marketplace/agents/figures.ts";

test("a success rate is cut to four digits of the exact share", () => {
  const wrong: string[] = [];
  for (let runs = 1; runs <= 400; runs += 1) {
    for (let succeeded = 0; succeeded <= runs; succeeded += 1) {
      const exact = Number((BigInt(succeeded) * 10_000n) / BigInt(runs)) / 10_000;
      if (successRate(succeeded, runs) !== exact) wrong.push(`${succeeded} of ${runs}`);
    }
  }
  expect(wrong).toEqual([]);
  const row = { runs: 100, succeeded: 57, median_ms: null, p95_ms: null, last_success_at: null };
  expect(asFigures(row).success_rate).toBe(0.57);
  expect(asFigures(undefined).success_rate).toBeNull();
});
