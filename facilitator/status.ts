import { toSafeNumber } from "../shared/amounts.ts";
import type { Environment } from "../shared/networks.ts";
import type { Database } from "../shared/postgres.ts";
import type { Config } from "./config.ts";
import { facilitatorSubject } from "./heartbeats.ts";
import { amongUnfinished, hasNotEnded } from "./payment-states.ts";
import type { OutageCause, SchemeRegistry } from "./schemes/registry.ts";

const minutesOfDay = 1_440;
const outagesMax = 50;

export interface Status {
  /** Copies that beat within the past minute. */
  readonly copies: number;
  readonly lastBeatAt: Date | undefined;
  /** The facilitator first, then each network. */
  readonly subjects: readonly SubjectStatus[];
  /** Outages that last come first, then the newest, at most 50. */
  readonly outages: readonly Outage[];
  /** How many there were in the window. */
  readonly outagesInAll: number;
  /** Payments whose lease has run out and whose end the reconciler found, in the window. */
  readonly reconciled: number;
  readonly unfinished: { readonly payments: number; readonly oldest: Date | undefined };
}

export interface SubjectStatus {
  /** "facilitator" or a CAIP-2 id. */
  readonly subject: string;
  /** Oldest first. */
  readonly days: readonly DayStatus[];
  /** Share of minutes up among those of which something is known; undefined before the first of them. */
  readonly available: number | undefined;
  readonly isUp: boolean;
  /** An outage lasts now. A subject of which nothing is known is neither up nor down. */
  readonly isDown: boolean;
}

export interface DayStatus {
  readonly day: string;
  /** Undefined: nothing is known of the day. */
  readonly minutesDown: number | undefined;
}

export interface Outage {
  readonly subject: string;
  readonly from: Date;
  /** The window begins with it: it began then or before. */
  readonly isFromBefore: boolean;
  /** Undefined while it lasts. */
  readonly to: Date | undefined;
  /** A network's causes, as running copies saw them. */
  readonly causes: readonly OutageCause[];
}

export interface StatusNeeds {
  readonly db: Database;
  readonly schemes: Pick<SchemeRegistry, "all">;
  readonly config: Pick<Config, "environmentOf">;
}

/** How this service and its networks were up on the past days, from the beats of all copies: a gap is an outage. */
export async function status(
  { db, schemes, config }: StatusNeeds,
  { env, days, now = new Date() }: { env: Environment; days: number; now?: Date },
): Promise<Status> {
  const networks = schemes.all.map(({ network }) => network).filter((network) => config.environmentOf(network) === env);
  const subjects = [facilitatorSubject, ...networks];
  const window = windowOf(now, days);
  const [beats, causes, copies, reconciled, unfinished] = await Promise.all([
    readBeats(db, subjects, window),
    readCauses(db, networks, days),
    db.query({
      name: "status-copies",
      text: "select count(*) filter (where last_beat_at > now() - interval '1 minute')::int as copies, max(last_beat_at) as last from copies",
    }),
    db.query({
      name: "status-reconciled",
      text: `select coalesce(sum(payments), 0) as payments from daily_reconciliations
              where network = any($1) and day > (now() at time zone 'utc')::date - $2::int`,
      values: [networks, days],
    }),
    db.query({
      name: "status-unfinished",
      text: `select count(*)::int as payments, min(created_at) as oldest
               from payments where ${amongUnfinished} and ${hasNotEnded} and network = any($1)`,
      values: [networks],
    }),
  ]);
  const read = subjects.map((subject) => readSubject(subject, beats.get(subject), window));
  const own = read[0];
  const all = read.map((one, at) => (at === 0 || !own ? one : onlyWhileUp(one, own)));
  const gaps = all.flatMap(outagesOf).toSorted(lastingThenNewest);
  const down = new Set(gaps.filter(({ to }) => to === undefined).map(({ subject }) => subject));
  return {
    copies: copies.rows[0].copies,
    lastBeatAt: copies.rows[0].last ?? undefined,
    subjects: all.map((one) => ({ ...summaryOf(one), isDown: down.has(one.subject) })),
    outages: gaps.slice(0, outagesMax).map((gap) => ({ ...gap, causes: causesOf(gap, causes) })),
    outagesInAll: gaps.length,
    reconciled: toSafeNumber(reconciled.rows[0].payments),
    unfinished: { payments: unfinished.rows[0].payments, oldest: unfinished.rows[0].oldest ?? undefined },
  };
}

/** In minutes since 1970. */
interface Window {
  readonly first: number;
  readonly until: number;
}

/** Whole days. The present minute may not have had its beat yet, and the one before ends now. */
function windowOf(now: Date, days: number): Window {
  const until = Math.floor(now.getTime() / 60_000) - 1;
  return { first: (Math.floor(until / minutesOfDay) - days + 1) * minutesOfDay, until };
}

interface CauseInHour {
  readonly subject: string;
  readonly hour: Date;
  readonly cause: OutageCause;
}

async function readCauses(db: Database, networks: readonly string[], days: number): Promise<readonly CauseInHour[]> {
  const { rows } = await db.query<CauseInHour>({
    name: "status-causes",
    text: "select subject, hour, cause from outage_causes where subject = any($1) and hour > now() - make_interval(days => $2 + 1)",
    values: [networks, days],
  });
  return rows;
}

/** The distinct causes that were noted in the hours of the gap. */
function causesOf({ subject, from, to }: Gap, causes: readonly CauseInHour[]): readonly OutageCause[] {
  const hourMs = 3_600_000;
  const first = Math.floor(from.getTime() / hourMs) * hourMs;
  const fitting = causes.filter(
    (one) => one.subject === subject && one.hour.getTime() >= first && (to === undefined || one.hour < to),
  );
  return [...new Set(fitting.map(({ cause }) => cause))];
}

interface Beats {
  readonly days: ReadonlyArray<{
    /** Since 1970. */
    readonly day: number;
    readonly minutes: Buffer;
  }>;
  /** Whether there were beats before the window. */
  readonly hasEarlier: boolean;
}

async function readBeats(
  db: Database,
  subjects: readonly string[],
  { first }: Window,
): Promise<ReadonlyMap<string, Beats>> {
  const { rows } = await db.query({
    name: "status-beats",
    text: `
      select asked.subject, exists (select from alive_minutes a where a.subject = asked.subject and a.day < window_start) as has_earlier,
             b.day - date '1970-01-01' as day, b.minutes
        from unnest($1::text[]) as asked (subject) cross join (select date '1970-01-01' + $2::int) as w (window_start)
             left join alive_minutes b on b.subject = asked.subject and b.day >= window_start
       order by b.day`,
    values: [subjects, first / minutesOfDay],
  });
  return new Map(
    subjects.map((subject) => {
      const own = rows.filter((row) => row.subject === subject);
      return [subject, { days: own.filter(({ day }) => day !== null), hasEarlier: own[0]?.has_earlier ?? false }];
    }),
  );
}

/** Minute by minute from the first of the window on. */
interface Minutes {
  readonly subject: string;
  /** Since 1970. */
  readonly first: number;
  /** By minute from `first`: whether it was up. */
  readonly up: Uint8Array;
  /** By minute from `first`: whether anything can be said of it. */
  readonly known: Uint8Array;
  /** In the minute after the last, the present one, which is not over. */
  readonly isUpNow: boolean;
}

/** Known from the first beat on: of one before the window, all of the window. */
function readSubject(subject: string, beats: Beats | undefined, { first, until }: Window): Minutes {
  const up = new Uint8Array(until + 2 - first);
  for (const { day, minutes } of beats?.days ?? []) markBeats(up, day * minutesOfDay - first, minutes);
  const past = up.subarray(0, -1);
  const firstUp = beats?.hasEarlier ? 0 : past.indexOf(1);
  const known = new Uint8Array(past.length);
  if (firstUp >= 0) known.fill(1, firstUp);
  return { subject, first, up: past, known, isUpNow: up.at(-1) === 1 };
}

/** Marks a day's minutes that had a beat; the day begins at `start` of `up`, and may lie partly outside of it. */
function markBeats(up: Uint8Array, start: number, minutes: Buffer): void {
  for (const [byte, bits] of minutes.entries()) {
    const at = start + byte * 8;
    // Most bytes are full.
    if (bits === 255 && at >= 0 && at + 8 <= up.length) up.fill(1, at, at + 8);
    // PostgreSQL counts a byte's bits from its lowest; a typed array drops what is written outside of it.
    else if (bits !== 0) for (let bit = 0; bit < 8; bit += 1) if ((bits >> bit) & 1) up[at + bit] = 1;
  }
}

/** While no copy was up, nothing is known of a network. */
function onlyWhileUp(network: Minutes, own: Minutes): Minutes {
  const known = network.known.slice();
  for (let at = 0; at < known.length; at += 1) if (own.up[at] === 0) known[at] = 0;
  return { ...network, known };
}

function summaryOf({ subject, first, up, known, isUpNow }: Minutes): Omit<SubjectStatus, "isDown"> {
  const days: DayStatus[] = [];
  let knownInAll = 0;
  let downInAll = 0;
  for (let from = 0; from < up.length; from += minutesOfDay) {
    const to = Math.min(from + minutesOfDay, up.length);
    let knownMinutes = 0;
    let down = 0;
    for (let at = from; at < to; at += 1) {
      if (known[at] === 0) continue;
      knownMinutes += 1;
      if (up[at] === 0) down += 1;
    }
    knownInAll += knownMinutes;
    downInAll += down;
    const day = new Date((first + from) * 60_000).toISOString().slice(0, 10);
    days.push({ day, minutesDown: knownMinutes === 0 ? undefined : down });
  }
  const available = knownInAll === 0 ? undefined : (knownInAll - downInAll) / knownInAll;
  return { subject, days, available, isUp: isUpNow || up.at(-1) === 1 || up.at(-2) === 1 };
}

type Gap = Omit<Outage, "causes">;

function outagesOf({ subject, first, up, known, isUpNow }: Minutes): readonly Gap[] {
  const outages: Gap[] = [];
  let from: number | undefined;
  const at = (minute: number) => new Date((first + minute) * 60_000);
  for (let minute = 0; minute < up.length; minute += 1) {
    const isDown = known[minute] === 1 && up[minute] === 0;
    if (isDown && from === undefined) from = minute;
    if (!isDown && from !== undefined) {
      outages.push({ subject, from: at(from), isFromBefore: from === 0, to: at(minute) });
      from = undefined;
    }
  }
  if (from !== undefined) {
    outages.push({ subject, from: at(from), isFromBefore: from === 0, to: isUpNow ? at(up.length) : undefined });
  }
  return outages;
}

function lastingThenNewest(one: Gap, other: Gap): number {
  const [lasts, otherLasts] = [one, other].map(({ to }) => to === undefined);
  return lasts === otherLasts ? other.from.getTime() - one.from.getTime() : lasts ? -1 : 1;
}
