import { expect, test } from "vitest";
import { failureResult } from "../../../marketplace/mcp/results.ts";
import { ApiError } from "../../../shared/errors.ts";

const textOf = (error: ApiError, isNamed = false) =>
  failureResult(error, { isNamed }).content.map((part) => (part.type === "text" ? part.text : ""));

test("a run of which it is not known whether it was charged is not told as free, nor to be called again as it is", () => {
  const body = { run_id: "run_1", charged: "unknown" };
  const error = new ApiError("unavailable", "Not known yet.", { body, headers: { "retry-after": "30" } });
  expect(textOf(error)).toEqual([
    "Not known yet. Do not call again, which could be charged besides: tell the user to look at the run run_1 among their runs.",
  ]);
  expect(textOf(error, true)).toEqual([
    "Not known yet. Call again with the same idempotency key: it is charged once. Wait 30 seconds before that.",
  ]);
  const { _meta } = failureResult(error);
  expect(_meta).toEqual({ ...body, retry_after_seconds: 30 });
});

test("a failure that says nothing of a charge is free, and may be called again", () => {
  const error = new ApiError("unavailable", "Busy.", { headers: { "retry-after": "5" } });
  expect(textOf(error)).toEqual(["Busy. Call again later. Wait 5 seconds before that."]);
  expect(failureResult(error)._meta).toEqual({ credits_used: 0, retry_after_seconds: 5 });
});
