import { getEventListeners, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { timeLimit } from "../../shared/time-limit.ts";
import { elapse } from "../support/elapse.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

describe("a time limit", () => {
  test.each([
    ["alone", undefined],
    ["beside a signal", new AbortController().signal],
  ])("ends although garbage is collected before: %s", async (_, sooner) => {
    const { signal } = timeLimit(100, sooner);
    const ended = once(signal, "abort");
    await elapse(10, "what was made in one turn of the event loop is kept until its end");
    for (let times = 0; times < 5; times++) collectGarbage();
    await ended;
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  test("ends with the other signal, for its reason, also where that has ended already", () => {
    const controller = new AbortController();
    const [before, reason] = [timeLimit(60_000, controller.signal), new Error("the caller left")];
    controller.abort(reason);
    for (const { signal, lift } of [before, timeLimit(60_000, controller.signal)]) {
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toBe(reason);
      lift();
    }
  });

  test("lifted, it ends nothing, and the other signal has no listener left", () => {
    const controller = new AbortController();
    const limits = Array.from({ length: 20 }, () => timeLimit(60_000, controller.signal));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(20);
    for (const { lift } of limits) lift();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort();
    expect(limits.filter(({ signal }) => signal.aborted)).toEqual([]);
  });
});
