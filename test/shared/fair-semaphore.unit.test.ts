import { describe, expect, test } from "vitest";
import { FairSemaphore, NoPermitError } from "../../shared/fair-semaphore.ts";

const holder = (account: string, agent = `${account}/1`) => ({ account, agent });

/** Takes until nothing more is given at once; the answer says how many. */
async function takeAll(semaphore: FairSemaphore, who: { account: string; agent: string }): Promise<Array<() => void>> {
  const releases: Array<() => void> = [];
  for (;;) {
    const taken = await semaphore.acquire(who).catch(() => undefined);
    if (!taken) return releases;
    releases.push(taken);
  }
}

describe("shares", () => {
  test("leave something for whoever comes next, however many hold on to theirs", async () => {
    const semaphore = new FairSemaphore({ total: 1_024, waitMs: 1 });
    const first = await takeAll(semaphore, holder("a"));
    expect(first.length).toBeLessThan(128);
    for (let n = 0; n < 30; n += 1) await takeAll(semaphore, holder(`hog-${n}`));
    const late = await takeAll(semaphore, holder("late"));
    expect(late.length).toBeGreaterThanOrEqual(1);
    expect((await takeAll(semaphore, holder("later"))).length).toBeGreaterThanOrEqual(1);
  });

  test("are an account's, too, over all its agents", async () => {
    const semaphore = new FairSemaphore({ total: 512, waitMs: 1 });
    let taken = 0;
    for (let n = 0; n < 20; n += 1) taken += (await takeAll(semaphore, holder("a", `agent-${n}`))).length;
    expect(taken).toBeLessThan(110);
  });

  test("are given, in order, to who waits, and given back once", async () => {
    const semaphore = new FairSemaphore({ total: 8, waitMs: 1_000 });
    const mine = await semaphore.acquire(holder("a"));
    const order: number[] = [];
    const waiting = [1, 2].map((n) =>
      semaphore.acquire(holder("a")).then((release) => {
        order.push(n);
        return release;
      }),
    );
    mine();
    mine();
    (await waiting[0]!)();
    (await waiting[1]!)();
    expect(order).toEqual([1, 2]);
    expect(await takeAll(semaphore, holder("b"))).toHaveLength(1);
  });

  test("are taken several at once as they are one by one", async () => {
    const [single, several] = [
      new FairSemaphore({ total: 64, waitMs: 1 }),
      new FairSemaphore({ total: 64, waitMs: 1 }),
    ];
    const most = (await takeAll(single, holder("a"))).length;
    await expect(several.acquire(holder("a"), undefined, most + 1)).rejects.toBeInstanceOf(NoPermitError);
    const release = await several.acquire(holder("a"), undefined, most);
    await expect(several.acquire(holder("a"))).rejects.toBeInstanceOf(NoPermitError);
    const waiting = several.acquire(holder("b"), undefined, 2);
    release();
    expect(await waiting).toBeTypeOf("function");
    expect(await takeAll(several, holder("a"))).toHaveLength(most - 1);
  });

  test("make nobody wait without end, nor any number at once", async () => {
    const semaphore = new FairSemaphore({ total: 8, waitMs: 50 });
    await semaphore.acquire(holder("a"));
    const abort = new AbortController();
    const aborted = semaphore.acquire(holder("a"), abort.signal);
    abort.abort();
    await expect(aborted).rejects.toBeInstanceOf(NoPermitError);
    let refused = 0;
    const waiting = Array.from({ length: 2_000 }, () => semaphore.acquire(holder("a")).catch(() => (refused += 1)));
    await Promise.resolve().then(() => {});
    // A thousand may wait; the others are told at once, and those in the end.
    expect(refused).toBe(1_000);
    await Promise.all(waiting);
    expect(refused).toBe(2_000);
    expect(await semaphore.acquire(holder("b"))).toBeTypeOf("function");
  });
});
