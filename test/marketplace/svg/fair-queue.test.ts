import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FairQueue, NoRoomError } from "../../../marketplace/svg/fair-queue.ts";
import { elapse } from "../../support/elapse.ts";

/** A signal that never aborts. */
const never = () => new AbortController().signal;

/** Jobs that end when they are told to, and the order in which they began. */
function bench(limits: {
  runningMax?: number;
  waitingMax?: number;
  partyMax?: number;
  reservedMax?: number;
  last?: string;
}) {
  const queue = new FairQueue({ runningMax: 1, waitingMax: 32, partyMax: 8, reservedMax: 32, ...limits });
  const began: string[] = [];
  const running: (() => void)[] = [];
  const hand = (party: string, signal = never()) => {
    const done = queue.run(party, signal, () => {
      began.push(party);
      return new Promise<string>((resolve) => running.push(() => resolve(party)));
    });
    done.catch(() => {});
    return done;
  };
  const end = async () => {
    await turn();
    running.shift()?.();
    await turn();
  };
  const endAll = async () => {
    for (let i = 0; i < 200 && !queue.isIdle; i++) await end();
  };
  return { queue, began, hand, end, endAll };
}

describe("the drawing queue", () => {
  test("one party with many jobs delays another by the one that is running", async () => {
    const { began, hand, endAll } = bench({});
    for (let i = 0; i < 8; i++) hand("flood");
    hand("other");
    hand("third");
    hand("other");
    await endAll();
    expect(began.slice(0, 4)).toEqual(["flood", "other", "third", "flood"]);
    expect(began.filter((party) => party === "flood")).toHaveLength(8);
    expect(began.indexOf("other", 2)).toBeLessThan(6);
  });

  test("with two workers, one of them is for who has none", async () => {
    const { began, hand, end, endAll } = bench({ runningMax: 2 });
    for (let i = 0; i < 6; i++) hand("flood");
    hand("other");
    await end();
    expect(began).toEqual(["flood", "flood", "other"]);
    await endAll();
  });

  test("a place that is kept counts as a job of its party; nobody waits for it, and no other party's job takes it", async () => {
    const { queue, began, hand, end, endAll } = bench({ waitingMax: 1, partyMax: 3, reservedMax: 4 });
    const places = [1, 2, 3].map(() => queue.reserve("drawing"));
    expect(() => queue.reserve("drawing")).toThrow(NoRoomError);
    expect(() => queue.admit("drawing")).toThrow(NoRoomError);
    queue.reserve("other").leave();
    hand("other");
    hand("third");
    await turn();
    expect(began).toEqual(["other"]);
    const drawn = places.map((place) => place.run(never(), async () => began.push("drawing")));
    const refused = await hand("fourth").catch((error: unknown) => error);
    expect((refused as NoRoomError).retryAfterSeconds).toBeGreaterThan(0);
    for (let n = 0; n < 2; n += 1) await end();
    await Promise.all(drawn);
    expect(began.toSorted()).toEqual(["drawing", "drawing", "drawing", "other", "third"]);
    // A place takes one job after the other until it is left.
    expect(() => queue.reserve("drawing")).toThrow(NoRoomError);
    await places[0]!.run(never(), async () => began.push("again"));
    const more = queue.reserve("another");
    expect(() => queue.reserve("one too many")).toThrow(NoRoomError);
    for (const place of [...places, more]) place.leave();
    for (const place of places) place.leave();
    expect(queue.isIdle).toBe(true);
    hand("drawing");
    hand("other");
    await endAll();
    expect(began.slice(5)).toEqual(["again", "drawing", "other"]);
  });

  test("jobs with places of their own, however many wait, take no room from the others'", async () => {
    const { queue, began, hand, endAll } = bench({ waitingMax: 2 });
    hand("first");
    const places = ["one", "two", "three"].map((party) => queue.reserve(party));
    const drawn = places.map((place) => place.run(never(), async () => began.push("drawn")));
    const others = ["buyer", "another"].map((party) => hand(party));
    await endAll();
    await Promise.all([...drawn, ...others]);
    for (const place of places) place.leave();
    expect(began.filter((one) => one !== "drawn")).toEqual(["first", "buyer", "another"]);
  });

  test("jobs with places of their own do not count against their party where others give way to it", async () => {
    const { queue, hand, endAll } = bench({ waitingMax: 3 });
    hand("first");
    const places = [1, 2].map(() => queue.reserve("buyer"));
    const drawn = places.map((place) => place.run(never(), async () => {}));
    const flood = [1, 2, 3].map(() => hand("flood"));
    const own = hand("buyer");
    await expect(flood[2]).rejects.toThrow(NoRoomError);
    await endAll();
    await Promise.all([...drawn, own]);
    for (const place of places) place.leave();
  });

  test("a party has so many jobs and no more, and is told when to come back", async () => {
    const { queue, hand, end, endAll } = bench({ partyMax: 3 });
    for (let i = 0; i < 3; i++) hand("flood");
    const refused = await hand("flood").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NoRoomError);
    expect((refused as NoRoomError).retryAfterSeconds).toBeGreaterThan(0);
    expect(() => queue.admit("flood")).toThrow(NoRoomError);
    expect(() => queue.admit("other")).not.toThrow();
    await end();
    expect(() => queue.admit("flood")).not.toThrow();
    await endAll();
    expect(queue.isIdle).toBe(true);
  });

  test("a party that has all its jobs running is told when to come back, though nobody waits", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, hand, endAll } = bench({ runningMax: 10 });
    // Of another, and done before any of the party's.
    hand("other");
    vi.advanceTimersByTime(5);
    for (let i = 0; i < 8; i++) hand("flood");
    const refused = await hand("flood").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NoRoomError);
    expect((refused as NoRoomError).retryAfterSeconds).toBe(5);
    expect(() => queue.admit("other")).not.toThrow();
    await endAll();
  });

  test("a full queue gives up the last of who has most there, never to who would then have as many", async () => {
    const { queue, hand, endAll } = bench({ waitingMax: 6, partyMax: 6 });
    const floods = Array.from({ length: 6 }, () => hand("flood"));
    const others = [hand("other")];
    expect(() => queue.admit("flood")).toThrow(NoRoomError);
    const third = hand("third");
    await expect(floods[5]).rejects.toThrow(NoRoomError);
    others.push(hand("other"));
    await expect(floods[4]).rejects.toThrow(NoRoomError);
    await expect(hand("other")).rejects.toThrow(NoRoomError);
    await endAll();
    expect(await Promise.all([...floods.slice(0, 4), ...others, third])).toHaveLength(7);
  });

  test("as many parties as there are places keep them: the next is refused until one is free", async () => {
    const { hand, endAll } = bench({ waitingMax: 3 });
    const jobs = ["a", "b", "c", "d"].map((party) => hand(party));
    await expect(hand("e")).rejects.toThrow(NoRoomError);
    await endAll();
    expect(await Promise.all(jobs)).toEqual(["a", "b", "c", "d"]);
  });

  test("who gives up while waiting makes room and is not run", async () => {
    const { queue, began, hand, endAll } = bench({ partyMax: 2 });
    const gone = new AbortController();
    hand("one");
    const waiting = hand("one", gone.signal);
    gone.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    hand("one");
    await endAll();
    expect(began).toEqual(["one", "one"]);
    expect(queue.isIdle).toBe(true);
  });

  test("a job that fails ends like any other", async () => {
    const queue = new FairQueue({ runningMax: 1, waitingMax: 1, partyMax: 2, reservedMax: 2 });
    await expect(queue.run("a", never(), () => Promise.reject(new Error("broke")))).rejects.toThrow("broke");
    expect(await queue.run("a", never(), async () => "fine")).toBe("fine");
    expect(queue.isIdle).toBe(true);
  });

  test("the time it names is when there is room again, learnt from what jobs have taken", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = new FairQueue({ runningMax: 1, waitingMax: 32, partyMax: 4, reservedMax: 4 });
    const after400Ms = () => elapse(400, "how long a job takes");
    const job = (party: string) => queue.run(party, never(), after400Ms);
    const learnt = Promise.all([job("flood"), job("flood"), job("other")]);
    await vi.advanceTimersByTimeAsync(3 * 400);
    await learnt;
    const jobs = [job("other"), job("other"), ...Array.from({ length: 4 }, () => job("flood"))];
    for (const all of jobs) all.catch(() => {});
    const told = (await job("flood").catch((error: unknown) => error)) as NoRoomError;
    // The other's job runs, then the first of the flood's.
    expect(told.retryAfterSeconds).toBeLessThanOrEqual(2);
    await vi.advanceTimersByTimeAsync(told.retryAfterSeconds * 1000);
    const last = job("flood");
    await vi.advanceTimersByTimeAsync(jobs.length * 400);
    await Promise.all([last, ...jobs]);
  });

  test("the party that gives way has its turn when nobody else waits, however long it has waited", async () => {
    const { began, hand, end, endAll } = bench({ last: "free" });
    hand("payer");
    hand("free");
    hand("free");
    for (let i = 0; i < 3; i++) hand("payer");
    hand("other");
    await end();
    hand("late");
    await endAll();
    expect(began).toEqual(["payer", "other", "payer", "late", "payer", "payer", "free", "free"]);
  });

  test("where there is no room, the party that gives way loses its place first and takes nobody's", async () => {
    const { hand, queue, endAll } = bench({ waitingMax: 3, last: "free" });
    hand("payer");
    for (let i = 0; i < 2; i++) hand("payer");
    const free = hand("free");
    expect(() => queue.admit("free")).toThrow(NoRoomError);
    const taken = hand("payer");
    await expect(free).rejects.toThrow(NoRoomError);
    await expect(hand("free")).rejects.toThrow(NoRoomError);
    await endAll();
    expect(await taken).toBe("payer");
  });

  test("says how many wait, and when the next is done", async () => {
    const { queue, hand, endAll } = bench({});
    expect(queue.load()).toEqual({ waiting: 0, seconds: 0 });
    for (let i = 0; i < 3; i++) hand("payer");
    expect(queue.load().waiting).toBe(2);
    expect(queue.load().seconds).toBeGreaterThan(0);
    await endAll();
    expect(queue.load()).toEqual({ waiting: 0, seconds: 0 });
  });
});
