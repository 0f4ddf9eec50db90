/** @jsxRuntime automatic @jsxImportSource preact */
import { Disclosure } from "../../shared/page/disclosure.tsx";
import { figures, noFigure } from "../../shared/page/figures.ts";
import { Table } from "../../shared/page/table.tsx";
import type { ResourceDay } from "../discovery/resource-record.ts";
import { usdc } from "./words.tsx";

/** A bar a day by how its payments ended: resources are not probed, so a day without one says nothing. */
export function PaidDays({ days }: { days: readonly ResourceDay[] }) {
  const paid = days.filter(({ settled, failed }) => settled + failed > 0);
  const worse = paid.filter(({ failed }) => failed > 0);
  return (
    <div class="stack stack-2">
      <svg class="uptime" viewBox={`0 0 ${days.length * 4 - 1} 32`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, settled, failed }, at) => (
          <g>
            <title>{`${day}: ${settled} settled, ${failed} failed`}</title>
            <rect class={lookOf(settled, failed)} x={at * 4} y={0} width={3} height={32} />
          </g>
        ))}
      </svg>
      <p class="small dim">
        Paid on {paid.length} of {days.length} days; on {worse.length} of them a payment failed after it was sent.
      </p>
      <Disclosure summary="As a table">
        <Table
          label="Payments by day"
          rows={paid.toReversed()}
          columns={[
            { head: "Day", cell: ({ day }) => day },
            { head: "Settled", isNumber: true, cell: ({ settled }) => figures(settled) },
            { head: "Failed", isNumber: true, cell: ({ failed }) => figures(failed) },
            { head: "USDC", isNumber: true, cell: ({ priceMin, priceMax }) => rangeOf(priceMin, priceMax) },
          ]}
        />
      </Disclosure>
    </div>
  );
}

function lookOf(settled: number, failed: number): string {
  if (settled + failed === 0) return "u0";
  if (failed === 0) return "u1";
  return settled === 0 ? "u3" : "u2";
}

function rangeOf(min: bigint | undefined, max: bigint | undefined): string {
  if (min === undefined || max === undefined) return noFigure;
  return min === max ? usdc(min) : `${usdc(min)} to ${usdc(max)}`;
}

/** The highest price of each day that had a payment, as steps. */
export function PriceHistory({ days }: { days: readonly ResourceDay[] }) {
  const prices = days.flatMap(({ priceMax }, at) => (priceMax === undefined ? [] : [{ at, price: Number(priceMax) }]));
  const first = prices[0];
  if (!first) return <p class="small dim">Nothing settled in {days.length} days.</p>;
  const top = Math.max(...prices.map(({ price }) => price));
  const line = prices.map(({ at, price }) => `H${at} V${100 - (90 * price) / top}`).join(" ");
  const path = `M${first.at} ${100 - (90 * first.price) / top} ${line} H${days.length - 1}`;
  const mins = days.flatMap(({ priceMin }) => priceMin ?? []);
  const lowest = mins.toSorted((one, other) => (one < other ? -1 : 1))[0] ?? 0n;
  return (
    <div class="stack stack-2">
      <div class="chart chart-sm" aria-hidden="true">
        <div class="chart-y">
          <span>{usdc(BigInt(top))}</span>
          <span>0</span>
        </div>
        <div class="chart-plot">
          <svg class="spark" viewBox={`0 0 ${days.length - 1} 100`} preserveAspectRatio="none" role="presentation">
            <path class="area" d={`${path} V100 H${first.at} Z`} />
            <path d={path} />
          </svg>
        </div>
        <div class="chart-x">
          <span>{days[0]?.day}</span>
          <span>today</span>
        </div>
      </div>
      <p class="small dim">
        Between {usdc(lowest)} and {usdc(BigInt(top))} USDC in {days.length} days.
      </p>
    </div>
  );
}
