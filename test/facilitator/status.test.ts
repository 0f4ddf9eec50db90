import { Fragment, h } from "preact";
import { render } from "preact-render-to-string";
import { expect } from "vitest";
import { Heartbeats } from "../../facilitator/heartbeats.ts";
import type { SchemeRegistry } from "../../facilitator/schemes/registry.ts";
import type { Scheme } from "../../facilitator/schemes/scheme.ts";
import { status } from "../../facilitator/status.ts";
import type { View, Visit } from "../../facilitator/web/page.ts";
import { statusPages } from "../../facilitator/web/pages/status.tsx";
import { createLog } from "../../shared/log.ts";
import { environmentOf } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";

const test = recordTest();

const network = "hedera:testnet";
const registry = (cause?: ReturnType<SchemeRegistry["whyNotSettling"]>, networks: readonly string[] = [network]) => ({
  all: networks.map((one) => ({ network: one }) as Scheme),
  whyNotSettling: () => cause,
});
const statusOf = (db: Database, days: number, now: Date, networks?: readonly string[]) =>
  status({ db, schemes: registry(undefined, networks), config: { environmentOf } }, { env: "testnet", days, now });

/** /status as it is shown now. */
async function pageOf(db: Database, networks?: readonly string[]): Promise<string> {
  const schemes = registry(undefined, networks);
  const [page] = statusPages(
    { db, schemes, config: { environmentOf } } as unknown as Parameters<typeof statusPages>[0],
    ["testnet"],
  );
  const visit = { env: "testnet", path: "/status", query: new URLSearchParams(), origin: "https://pay.example.com" };
  const view = (await page?.show(visit as Visit)) as View;
  return render(h(Fragment, {}, view.body));
}

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
    { subject: network, from: at(0, 300), to: at(0, 310), isFromBefore: false, causes: [] },
    { subject: network, from: at(0, 130), to: at(0, 140), isFromBefore: false, causes: [] },
    { subject: "facilitator", from: at(0, 100), to: at(0, 130), isFromBefore: false, causes: [] },
    { subject: network, from: at(0, 90), to: at(0, 100), isFromBefore: false, causes: [] },
  ]);
});

test("an outage that lasts has no end, and this service is not up", async ({ db }) => {
  const { subjects, outages } = await statusOf(db, 1, at(0, 420));
  expect(subjects.map(({ isUp }) => isUp)).toEqual([false, false]);
  expect(outages[0]).toEqual({
    subject: "facilitator",
    from: at(0, 400),
    to: undefined,
    isFromBefore: false,
    causes: [],
  });
});

test("an outage ends with the first beat after it, in the minute of that beat", async ({ db }) => {
  await db.query("truncate alive_minutes");
  await mark(db, "facilitator", at(0, 0), [
    [0, 100],
    [130, 131],
  ]);
  const { subjects, outages } = await statusOf(db, 1, at(0, 130));
  expect(subjects[0]).toMatchObject({ isUp: true });
  expect(outages).toEqual([
    { subject: "facilitator", from: at(0, 100), to: at(0, 130), isFromBefore: false, causes: [] },
  ]);
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

test("a network whose fees are too high does not settle in that time, and nothing else is said of why", async ({
  db,
}) => {
  await db.query("truncate alive_minutes, outage_causes");
  await new Heartbeats(db, registry("fees too high"), createLog("test", "silent")).beat();
  expect((await db.query("select distinct subject from alive_minutes")).rows).toEqual([{ subject: "facilitator" }]);
  expect((await db.query("select from outage_causes")).rows).toEqual([]);
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

/** A copy is up now, and was for a few days; no network settled with it. */
async function upAlone(db: Database): Promise<void> {
  await db.query("truncate alive_minutes, outage_causes, copies");
  await new Heartbeats(db, registry("away"), createLog("test", "silent")).beat();
  // Marked whole, so that it does not matter in which minute the beat came.
  await db.query("truncate alive_minutes");
  for (const day of [-3, -2, -1, 0]) await mark(db, "facilitator", at(day, 0), [[0, 1_440]]);
}

test("a network that was up once and is down all through the window is down, and the page does not say that all settle", async ({
  db,
}) => {
  await upAlone(db);
  await mark(db, network, at(-100, 0), [[0, 10]]);
  const { subjects, outages } = await statusOf(db, 2, new Date());
  expect(subjects[1]).toMatchObject({ available: 0, isUp: false, isDown: true });
  expect(subjects[1]?.days[0]?.minutesDown).toBe(1_440);
  expect(outages).toEqual([
    { subject: network, from: expect.any(Date), isFromBefore: true, to: undefined, causes: ["away"] },
  ]);
  const page = await pageOf(db);
  expect(page).toContain("<h1>1 network does not settle</h1>");
  expect(page).not.toContain('class="badge">no data');
});

test("a network that no copy has seen up yet is not said to settle", async ({ db }) => {
  await upAlone(db);
  const page = await pageOf(db);
  expect(page).toContain("<h1>1 network could not settle yet</h1>");
  await mark(db, network, at(0, 0), [[0, 1_440]]);
  expect(await pageOf(db)).toContain("<h1>Settling on all networks</h1>");
});

test("an outage that lasts is told however many others began after it, and the figure counts them all", async ({
  db,
}) => {
  await upAlone(db);
  const blinking = "eip155:84532";
  await mark(db, network, at(-3, 0), [[0, 60]]);
  const blips = Array.from({ length: 60 }, (_, n) => [n * 20, n * 20 + 19] as const);
  await mark(db, blinking, at(-1, 0), [...blips, [1_200, 1_440]]);
  await mark(db, blinking, at(0, 0), [[0, 1_440]]);
  const { subjects, outages, outagesInAll } = await statusOf(db, 7, new Date(), [network, blinking]);
  expect([outages.length, outagesInAll]).toEqual([50, 61]);
  expect(outages[0]).toMatchObject({ subject: network, from: at(-3, 60), to: undefined });
  expect(subjects.map(({ isDown }) => isDown)).toEqual([false, true, false]);
  const page = await pageOf(db, [network, blinking]);
  expect(page).toContain("<h1>1 network does not settle</h1>");
  expect(page).toContain(", 50 of 61");
});
