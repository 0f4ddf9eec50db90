import { h } from "preact";
import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Charts } from "../../facilitator/web/overview/figures.tsx";

const figuresOf = (days: number) => {
  const daily = Array.from({ length: days }, (_, at) => ({
    day: new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10),
    settled: 1 + at,
    failed: 2,
    rejected: 1,
    volume: 1_000_000n * BigInt(at),
    payers: 1,
    p50Ms: 900,
    p95Ms: 2_000,
  }));
  const settled = daily.reduce((sum, day) => sum + day.settled, 0);
  const volume = daily.reduce((sum, day) => sum + day.volume, 0n);
  const total = {
    settled,
    failed: 2 * days,
    rejected: days,
    volume,
    payers: 1,
    success: 0.9,
    p50Ms: 900,
    p95Ms: 2_000,
  };
  return { env: "mainnet" as const, networks: [], total, before: undefined, daily, byNetwork: [], reasons: [] };
};

/** The labels and figures of the bars of a chart. */
function barsOf(html: string, chart: string) {
  const figure = html.split("<figure").find((part) => part.includes(`id="${chart}-says"`)) ?? "";
  return [...figure.matchAll(/<title>(.*?): ([\d.,]+)(?: \+ (\d+))?<\/title>/g)].map(
    ([, label, value = "", second]) => ({
      label,
      value: Number(value.replaceAll(",", "")),
      second: Number(second ?? 0),
    }),
  );
}
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test.each([
  { days: 30, bars: 30, first: "1 Jan", last: "30 Jan" },
  { days: 90, bars: 90, first: "1 Jan", last: "31 Mar" },
  { days: 91, bars: 13, first: "1 Jan to 7 Jan", last: "26 Mar to 1 Apr" },
  { days: 365, bars: 53, first: "1 Jan", last: "25 Dec to 31 Dec" },
])("$days days are drawn as $bars bars, in which no payment is missing", ({ days, bars, first, last }) => {
  const figures = figuresOf(days);
  const html = render(h(Charts, { figures, days }));
  const settlements = barsOf(html, "settlements-chart");
  expect(settlements).toHaveLength(bars);
  expect([settlements[0]?.label, settlements.at(-1)?.label]).toEqual([first, last]);
  expect(sum(settlements.map(({ value }) => value))).toBe(figures.total.settled);
  expect(sum(settlements.map(({ second }) => second))).toBe(3 * days);
  expect(sum(barsOf(html, "volume-chart").map(({ value }) => value))).toBe(Number(figures.total.volume / 1_000_000n));
});
