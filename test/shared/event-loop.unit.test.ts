import { expect, test } from "vitest";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";

test("nobody shares a turn", async () => {
  let turn = 0;
  let done = false;
  const count = () => {
    turn += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(Array.from({ length: 20 }, () => ownEventLoopTurn().then(() => turn)));
  done = true;
  expect(new Set(turns).size).toBe(20);
});

test("after long work the next caller waits as long as that took", async () => {
  const workFor = (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; );
    return performance.now();
  };
  const first = ownEventLoopTurn().then(() => workFor(60));
  const next = ownEventLoopTurn().then(() => performance.now());
  let turns = 0;
  const isOver = next.then(() => true);
  const count = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  await first;
  while (!(await Promise.race([isOver, count()]))) turns += 1;
  expect((await next) - (await first)).toBeGreaterThanOrEqual(59);
  // Whoever else has something to do is not held up.
  expect(turns).toBeGreaterThan(10);
});
