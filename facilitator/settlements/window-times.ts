import type { Queryable, Transaction } from "../../shared/postgres.ts";
import { durationAt, readSpans, type SpanCount, type Window } from "./figures.ts";
import type { RecordScope } from "./scope.ts";
import { selfScope } from "./self-payments.ts";

/** Windows that pages link to: a year has some hundred thousand spans to add up, too many while a page waits. */
const windows = [7, 30, 90, 365] as const;

export interface Times {
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

/** Under which name the times of a window up to today are kept, beside those of single days. */
function nameOf({ days, withoutSelf }: Pick<Window, "days" | "withoutSelf">, scope: string): string {
  return `${days} days ${withoutSelf ? "without self " : ""}${scope}`;
}

/** By the names of the scope and of its networks, but for those without a record; at most a minute old where they are kept. */
export async function readTimes(tx: Queryable, window: Window): Promise<ReadonlyMap<string, Times>> {
  const { scope } = window;
  const names = [...new Set([scope.name, ...scope.networks])];
  const { rows } = await tx.query({
    name: "window-times",
    text: "select scope, p50_ms, p95_ms from daily_figures where scope = any($1) and day = (now() at time zone 'utc')::date",
    values: [names.map((name) => nameOf(window, name))],
  });
  const kept = new Map(
    rows.map((row) => [row.scope, { p50Ms: row.p50_ms ?? undefined, p95Ms: row.p95_ms ?? undefined }]),
  );
  if (!kept.has(nameOf(window, scope.name))) return timesOf(scope, await readSpans(tx, window));
  return new Map(
    names.flatMap((name) => {
      const times = kept.get(nameOf(window, name));
      return times ? [[name, times] as const] : [];
    }),
  );
}

function timesOf({ name, networks }: RecordScope, spans: readonly SpanCount[]): ReadonlyMap<string, Times> {
  const times = (some: readonly SpanCount[]) => ({ p50Ms: durationAt(some, 0.5), p95Ms: durationAt(some, 0.95) });
  const byNetwork = networks.map(
    (network) => [network, times(spans.filter((span) => span.network === network))] as const,
  );
  return new Map([...byNetwork, [name, times(spans)]]);
}

/** Keeps the times of the usual windows of an environment and its networks, where there was a settlement since. */
export async function refreshWindowTimes(tx: Transaction, scope: RecordScope): Promise<void> {
  for (const withoutSelf of [false, true]) {
    for (const days of windows) {
      const window = { scope, days, withoutSelf };
      const counted = await countedIn(tx, window);
      if (counted !== undefined) await keep(tx, window, counted);
    }
  }
  await tx.query("delete from daily_figures where scope ~ '^[0-9]+ days ' and day < (now() at time zone 'utc')::date");
}

/** How many settlements, and how often the self-payments among them were changed. */
interface Counted {
  readonly settlements: bigint;
  readonly selfCounted: bigint;
}

/** Undefined where the kept times are of just these. */
async function countedIn(tx: Transaction, window: Window): Promise<Counted | undefined> {
  const { rows } = await tx.query({
    name: "window-times-due",
    text: `
      with counted as (
        select (select coalesce(sum(settlements), 0) from daily_settlements
                 where network = any($1) and status = 'settled' and day > (now() at time zone 'utc')::date - $2::int) as settlements,
               (select coalesce(sum(counted), 0) from daily_payers
                 where scope = $4 and day > (now() at time zone 'utc')::date - $2::int) as self_counted
      )
      select counted.* from counted
       where not exists (select from daily_figures kept
                          where kept.scope = $3 and kept.day = (now() at time zone 'utc')::date
                            and kept.settlements = counted.settlements and kept.self_counted = counted.self_counted)`,
    values: [
      window.scope.networks,
      window.days,
      nameOf(window, window.scope.name),
      window.withoutSelf ? selfScope(window.scope.name) : null,
    ],
  });
  const [row] = rows;
  return row && { settlements: row.settlements, selfCounted: row.self_counted };
}

async function keep(tx: Transaction, window: Window, { settlements, selfCounted }: Counted): Promise<void> {
  const times = [...timesOf(window.scope, await readSpans(tx, window))];
  await tx.query({
    name: "keep-window-times",
    text: `
      insert into daily_figures (scope, day, settlements, self_counted, payers, p50_ms, p95_ms)
      select name, (now() at time zone 'utc')::date, $2, $5, 0, p50_ms, p95_ms
        from unnest($1::text[], $3::int[], $4::int[]) as t (name, p50_ms, p95_ms)
      on conflict (scope, day) do update
        set settlements = excluded.settlements, self_counted = excluded.self_counted, p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms`,
    values: [
      times.map(([name]) => nameOf(window, name)),
      settlements,
      times.map(([, { p50Ms }]) => p50Ms ?? null),
      times.map(([, { p95Ms }]) => p95Ms ?? null),
      selfCounted,
    ],
  });
}
