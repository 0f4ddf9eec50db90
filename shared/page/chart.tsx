/** @jsxRuntime automatic @jsxImportSource preact */
import { classes } from "./classes.ts";
import { Disclosure } from "./disclosure.tsx";
import { figures } from "./figures.ts";
import { Table } from "./table.tsx";

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Stacked on it, in the second colour. */
  readonly second?: number;
  /** The exact figures, where the values are none that a person reads. */
  readonly shown?: readonly [value: string, second?: string];
  /** Where its row of the table leads. */
  readonly href?: string;
  /** The row's cells in further columns of the table. */
  readonly more?: readonly string[];
}

/** Bars that the server draws, with a sentence that says what they show and the same figures as a table. */
export function Bars(props: BarsProps) {
  const { id, sentence, bars, names, small = false, quiet = false, hasTable = true } = props;
  const values = bars.flatMap(({ value, second = 0 }) => [value, second]);
  const step = roundStep(Math.max(0, ...bars.map(({ value, second = 0 }) => value + second)), values);
  return (
    <figure class={classes("stack", "stack-2", quiet && "chart-quiet")} aria-labelledby={`${id}-says`}>
      <figcaption id={`${id}-says`} class="small dim">
        {sentence}
      </figcaption>
      <div class={small ? "chart chart-sm" : "chart"} aria-hidden="true">
        <div class="chart-y">
          {[4, 3, 2, 1, 0].map((quarter) => (
            <span>{tickFormat.format(step * quarter)}</span>
          ))}
        </div>
        <div class="chart-plot">
          <svg viewBox={`0 0 ${bars.length * 10} 100`} preserveAspectRatio="none" role="presentation">
            <path class="b1" d={outline(bars, ({ value }) => [0, value / (step * 4)])} />
            <path class="b2" d={outline(bars, ({ value, second = 0 }) => [value / (step * 4), second / (step * 4)])} />
            {bars.map((bar, at) => (
              <rect x={at * 10} width="10" height="100">
                <title>{titleOf(bar)}</title>
              </rect>
            ))}
          </svg>
        </div>
        <div class="chart-x">
          <span>{bars[0]?.label}</span>
          <span>{bars.at(-1)?.label}</span>
        </div>
      </div>
      {names.second && (
        <p class="legend" aria-hidden="true">
          <span>
            <i class="key" />
            {names.value}
          </span>
          <span>
            <i class={quiet ? "key key-quiet" : "key key-2"} />
            {names.second}
          </span>
        </p>
      )}
      {hasTable && <BarsTable sentence={sentence} bars={bars} names={names} />}
    </figure>
  );
}

const firstOf = ({ value, shown }: Bar) => shown?.[0] ?? figures(value);
const secondOf = ({ second = 0, shown }: Bar) => shown?.[1] ?? figures(second);

function BarsTable({ sentence, bars, names }: Pick<BarsProps, "sentence" | "bars" | "names">) {
  return (
    <Disclosure summary="As a table">
      <Table
        label={sentence}
        rows={bars}
        columns={[
          {
            head: names.label,
            cell: ({ label, href }) =>
              href ? (
                <a class="link" href={href}>
                  {label}
                </a>
              ) : (
                label
              ),
          },
          { head: names.value, isNumber: true, cell: firstOf },
          ...(names.second ? [{ head: names.second, isNumber: true, cell: secondOf }] : []),
          ...(names.more ?? []).map((head, at) => ({ head, isNumber: true, cell: ({ more = [] }: Bar) => more[at] })),
        ]}
      />
    </Disclosure>
  );
}

const titleOf = (bar: Bar) => `${bar.label}: ${firstOf(bar)}${(bar.second ?? 0) > 0 ? ` + ${secondOf(bar)}` : ""}`;

/**
 * All bars of one colour as one shape: a slow phone lays out each element. `part`: where a bar begins and how high it is, of the
 * chart's height.
 */
function outline(bars: readonly Bar[], part: (bar: Bar) => readonly [from: number, height: number]): string {
  return bars
    .map((bar, at) => {
      const [from, height] = part(bar).map((share) => tenth(100 * share)) as [number, number];
      return height > 0 ? `M${at * 10 + 1.5} ${tenth(100 - from)}v-${height}h7v${height}z` : "";
    })
    .join("");
}

/** Rounds to a tenth of a percent of the chart's height: a year of bars has thousands of digits otherwise. */
const tenth = (share: number) => Math.round(share * 10) / 10;

const tickFormat = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** The smallest round step that reaches the highest bar in four. Whole where the values are whole. */
function roundStep(highest: number, values: readonly number[]): number {
  const least = highest === 0 || values.every(Number.isInteger) ? Math.max(1, highest / 4) : highest / 4;
  const power = 10 ** Math.floor(Math.log10(least));
  return (roundFactors.find((factor) => factor * power >= least) ?? 10) * power;
}

const roundFactors = [1, 2, 3, 4, 5, 6, 8];

interface BarsProps {
  readonly id: string;
  /** What the chart shows, in words: "Runs of the last 30 days; most on 12 November." */
  readonly sentence: string;
  readonly bars: readonly Bar[];
  /** The heads of the table. */
  readonly names: {
    readonly label: string;
    readonly value: string;
    readonly second?: string;
    readonly more?: readonly string[];
  };
  readonly small?: boolean;
  /** False where a table of the page has the same figures. */
  readonly hasTable?: boolean;
  /** The second value is no warning, but another part of the same. */
  readonly quiet?: boolean;
}
