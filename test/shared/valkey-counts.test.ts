import { test as base, expect } from "vitest";
import { Secret } from "../../shared/env.ts";
import { createLog } from "../../shared/log.ts";
import { ValkeyCounts } from "../../shared/valkey-counts.ts";
import { hasValkey, Valkey } from "../support/valkey.ts";

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  .extend("valkey", { scope: "file" }, async ({}, { onCleanup }) => {
    const valkey = await Valkey.start();
    onCleanup(() => valkey.kill());
    return valkey;
  })
  .extend("copyOf", async ({ valkey }, { onCleanup }) => {
    const copies: ValkeyCounts[] = [];
    onCleanup(() => {
      for (const copy of copies) copy.stop();
    });
    return async (answerWithinMs: number) => {
      const config = { url: new Secret(valkey.url), answerWithinMs };
      const copy = new ValkeyCounts(config, { name: "test", log: createLog("test", "silent") });
      copies.push(copy);
      await copy.start();
      await expect.poll(() => copy.isShared).toBe(true);
      return copy;
    };
  });

/** Longer than any answer takes, also where the machine is busy. */
const patientMs = 10_000;

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
const hits = async (count: number, copies: readonly ValkeyCounts[], caller: string) => {
  const counted = await Promise.all(upTo(count).map((n) => copies[n % copies.length]!.increment(caller)));
  return counted.map(({ totalHits }) => totalHits).toSorted((a, b) => a - b);
};

/** It has given up to wait for the Valkey. */
const isAlone = (copy: ValkeyCounts) =>
  expect
    .poll(async () => {
      await copy.increment("anybody");
      return copy.isShared;
    })
    .toBe(false);

test.runIf(hasValkey)(
  "calls of all copies are counted together, each once, and every caller apart",
  async ({ copyOf }) => {
    const copies = [await copyOf(patientMs), await copyOf(patientMs)];
    expect(await hits(600, copies, "a")).toEqual(upTo(600));
    expect(await hits(1, copies, "b")).toEqual([1]);
  },
);

test.runIf(hasValkey)(
  "a Valkey that says nothing any more holds nobody up: each copy counts alone until it answers",
  async ({ copyOf, valkey }) => {
    const copy = await copyOf(50);
    valkey.pause();
    expect(await hits(5, [copy], "c")).toEqual(upTo(5));
    await isAlone(copy);
    const figures = () => copy.families.map((family) => family.text()).join("");
    expect(figures()).toMatch(/^limits_counted_alone 1$.*^limit_counts_missed_total\{\} [1-9]/ms);
    expect(await hits(2, [copy], "c")).toEqual([6, 7]);
    valkey.resume();
    await expect.poll(figures).toMatch(/^limits_counted_alone 0$/m);
  },
);

test.runIf(hasValkey)(
  "a full Valkey, and one that was killed and comes back empty, hold nobody up and are used again",
  async ({ copyOf, valkey }) => {
    const copies = [await copyOf(patientMs), await copyOf(patientMs)];
    const together = () => expect.poll(() => copies.every(({ isShared }) => isShared)).toBe(true);
    await valkey.tell("config", "set", "maxmemory", "1");
    for (const copy of copies) expect(await hits(4, [copy], "d")).toEqual(upTo(4));
    await Promise.all(copies.map(isAlone));
    await valkey.tell("config", "set", "maxmemory", "0");
    await together();
    for (const n of upTo(4)) expect(await hits(1, [copies[n % 2]!], "e")).toEqual([n]);
    await valkey.kill();
    // Each goes on from what it knows of all calls so far.
    expect(await hits(2, [copies[1]!], "e")).toEqual([4, 5]);
    expect(await hits(2, [copies[0]!], "e")).toEqual([5, 6]);
    await Promise.all(copies.map(isAlone));
    await valkey.start();
    await together();
    expect(await hits(10, copies, "f")).toEqual(upTo(10));
  },
);
