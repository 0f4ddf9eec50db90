import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { startRounds } from "../../shared/rounds.ts";

test("a round that fails is told of, and the next one comes all the same", async () => {
  const failures: unknown[] = [];
  let began = 0;
  const rounds = startRounds(
    async () => {
      began += 1;
      if (began === 1) throw new Error("away");
    },
    1,
    (error) => failures.push(error),
  );
  while (began < 3) await pause(1);
  await rounds.stop();
  expect(failures).toEqual([new Error("away")]);
});

test("a stop is told to the round under way, waits for its end, and no other begins", async () => {
  let began = 0;
  let ended = 0;
  const rounds = startRounds(
    async (stopping) => {
      began += 1;
      while (!stopping.aborted) await pause(1);
      await pause(20);
      ended += 1;
    },
    1,
    () => {},
  );
  await pause(5);
  await rounds.stop();
  expect({ began, ended }).toEqual({ began: 1, ended: 1 });
  await pause(20);
  expect(began).toBe(1);
});
