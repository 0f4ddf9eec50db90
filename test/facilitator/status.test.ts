import { expect } from "vitest";
import { Heartbeats } from "../../facilitator/heartbeats.ts";
import type { Scheme } from "../../facilitator/schemes/scheme.ts";
import { status } from "../../facilitator/status.ts";
import { createLog } from "../../shared/log.ts";
import { environmentOf } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";

const test = recordTest();

const network = "hedera:testnet";
const registry = (cause?: "away" | "empty") => ({ all: [{ network } as Scheme], whyNotSettling: () => cause });
const statusOf = (db: Database, days: number, now: Date) =>
  status({ db, schemes: registry(), config: { environmentOf } }, { env: "testnet", days, now });

/** Marks minutes of today, counted from midnight, as beats do. */
async function mark(
  db: Database,
  subject: string,
  day: Date,
  ranges: readonly (readonly [number, number])[],
): Promise<void> {
  const bytes = Buffer.alloc(180);
  for (const [from, to] of ranges) {
    for (let minute = from; minute < to; minute += 1)
      bytes[minute >> 3] = (bytes[minute >> 3] ?? 0) | (1 << (minute & 7));
  }
  await db.query("insert into alive_minutes values ($1, $2, $3)", [subject, day.toISOString().slice(0, 10), bytes]);
}

const midnight = new Date(new Date().toISOString().slice(0, 10));
const at = (day: number, minute: number) => new Date(midnight.getTime() + (day * 1_440 + minute) * 60_000);

test("a gap in the beats is an outage of this service, and of a network only while this service was up", async ({
  db,
}) => {
  await mark(db, "facilitator", at(-1, 0), [[600, 1_440]]);
  await mark(db, "facilitator", at(0, 0), [
    [0, 100],
    [130, 400],
  ]);
  await mark(db, network, at(-1, 0), [[700, 1_440]]);
  await mark(db, network, at(0, 0), [
    [0, 90],
    [140, 300],
    [310, 400],
  ]);
  const { subjects, outages } = await statusOf(db, 3, at(0, 400));
  const [own, chain] = subjects;
  expect(own?.days.map(({ minutesDown }) => minutesDown)).toEqual([undefined, 0, 30]);
  expect(own?.available).toBeCloseTo(1 - 30 / (840 + 400), 9);
  expect(chain?.days.map(({ minutesDown }) => minutesDown)).toEqual([undefined, 0, 10 + 10 + 10]);
  expect(outages).toEqual([
    { subject: network, from: at(0, 300), to: at(0, 310), causes: [] },
    { subject: network, from: at(0, 130), to: at(0, 140), causes: [] },
    { subject: "facilitator", from: at(0, 100), to: at(0, 130), causes: [] },
    { subject: network, from: at(0, 90), to: at(0, 100), causes: [] },
  ]);
});

test("an outage that lasts has no end, and this service is not up", async ({ db }) => {
  const { subjects, outages } = await statusOf(db, 1, at(0, 420));
  expect(subjects.map(({ isUp }) => isUp)).toEqual([false, false]);
  expect(outages[0]).toEqual({ subject: "facilitator", from: at(0, 400), to: undefined, causes: [] });
});

test("an outage ends with the first beat after it, in the minute of that beat", async ({ db }) => {
  await db.query("truncate alive_minutes");
  await mark(db, "facilitator", at(0, 0), [
    [0, 100],
    [130, 131],
  ]);
  const { subjects, outages } = await statusOf(db, 1, at(0, 130));
  expect(subjects[0]).toMatchObject({ isUp: true });
  expect(outages).toEqual([{ subject: "facilitator", from: at(0, 100), to: at(0, 130), causes: [] }]);
});

test("every copy that is up is counted, and a network that does not settle is not marked", async ({ db }) => {
  await db.query("truncate alive_minutes");
  const log = createLog("test", "silent");
  await Promise.all([new Heartbeats(db, registry(), log).beat(), new Heartbeats(db, registry(), log).beat()]);
  const settling = await statusOf(db, 1, new Date(Date.now() + 60_000));
  expect(settling.copies).toBe(2);
  expect(settling.subjects.map(({ isUp }) => isUp)).toEqual([true, true]);
  await db.query("truncate alive_minutes");
  await new Heartbeats(db, registry("away"), log).beat();
  const { subjects } = await statusOf(db, 1, new Date(Date.now() + 60_000));
  expect(subjects.map(({ isUp }) => isUp)).toEqual([true, false]);
});

test("an outage of a network says what the copies saw in its hours", async ({ db }) => {
  await db.query("truncate alive_minutes, outage_causes");
  const log = createLog("test", "silent");
  for (let n = 0; n < 2; n += 1) await new Heartbeats(db, registry("empty"), log).beat();
  // Marked whole, so that it does not matter in which minute the beats came.
  await db.query("truncate alive_minutes");
  const now = new Date();
  await db.query("insert into outage_causes values ($1, $2, 'away'), ('hedera:mainnet', $3, 'away')", [
    network,
    new Date(Date.now() - 2 * 86_400_000),
    new Date(),
  ]);
  await mark(db, network, at(-1, 0), [[0, 1]]);
  await mark(db, "facilitator", at(-1, 0), [[0, 1_440]]);
  await mark(db, "facilitator", at(0, 0), [[0, 1_440]]);
  const { outages } = await statusOf(db, 5, now);
  expect(outages.find(({ subject }) => subject === network)).toMatchObject({ to: undefined, causes: ["empty"] });
});
