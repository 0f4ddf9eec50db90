import { describe, expect, test } from "vitest";
import { Shares, ShareUsedUp } from "../../shared/shares.ts";

const holder = (account: string, agent = `${account}/1`) => ({ account, agent });

/** Takes until nothing more is given at once; the answer says how many. */
async function takeAll(shares: Shares, who: { account: string; agent: string }): Promise<Array<() => void>> {
  const releases: Array<() => void> = [];
  for (;;) {
    const taken = await Promise.race([
      shares.take(who).catch(() => undefined),
      new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 5)),
    ]);
    if (!taken) return releases;
    releases.push(taken);
  }
}

describe("shares", () => {
  test("leave something for whoever comes next, however many hold on to theirs", async () => {
    const shares = new Shares({ total: 1_024, waitMs: 1 });
    const first = await takeAll(shares, holder("a"));
    expect(first.length).toBeLessThan(128);
    for (let n = 0; n < 30; n += 1) await takeAll(shares, holder(`hog-${n}`));
    const late = await takeAll(shares, holder("late"));
    expect(late.length).toBeGreaterThanOrEqual(1);
    expect((await takeAll(shares, holder("later"))).length).toBeGreaterThanOrEqual(1);
  });

  test("are an account's, too, over all its agents", async () => {
    const shares = new Shares({ total: 512, waitMs: 1 });
    let taken = 0;
    for (let n = 0; n < 20; n += 1) taken += (await takeAll(shares, holder("a", `agent-${n}`))).length;
    expect(taken).toBeLessThan(110);
  });

  test("are given, in order, to who waits, and given back once", async () => {
    const shares = new Shares({ total: 8, waitMs: 1_000 });
    const mine = await shares.take(holder("a"));
    const order: number[] = [];
    const waiting = [1, 2].map((n) =>
      shares.take(holder("a")).then((release) => {
        order.push(n);
        return release;
      }),
    );
    mine();
    mine();
    (await waiting[0]!)();
    (await waiting[1]!)();
    expect(order).toEqual([1, 2]);
    expect(await takeAll(shares, holder("b"))).toHaveLength(1);
  });

  test("make nobody wait without end, nor any number at once", async () => {
    const shares = new Shares({ total: 8, waitMs: 50 });
    await shares.take(holder("a"));
    const abort = new AbortController();
    const aborted = shares.take(holder("a"), abort.signal);
    abort.abort();
    await expect(aborted).rejects.toBeInstanceOf(ShareUsedUp);
    const startedAt = performance.now();
    const waited = await Promise.allSettled(Array.from({ length: 2_000 }, () => shares.take(holder("a"))));
    expect(waited.every(({ status }) => status === "rejected")).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await shares.take(holder("b"))).toBeTypeOf("function");
  });
});
