/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";
import { Spark } from "./spark.tsx";

export interface Stat {
  readonly name: ComponentChildren;
  readonly value: ComponentChildren;
  /** After the value, smaller: a unit. */
  readonly unit?: string | undefined;
  readonly note?: ComponentChildren;
  /** Its course, oldest first; undefined where there is no figure. */
  readonly course?: readonly (number | undefined)[] | undefined;
}

/** A few figures side by side. */
export function Stats({ stats, small = false, inCard = false }: StatsProps) {
  return (
    <dl class={classes("stats", stats.length === 5 && "stats-5", inCard && "stats-in")}>
      {stats.map(({ name, value, unit, note, course }) => (
        <div class={classes("stat", small && "stat-sm")}>
          <dt>{name}</dt>
          <dd>
            {value} {unit && <small>{unit}</small>}
          </dd>
          {note && <dd class="delta">{note}</dd>}
          {course && (
            <dd aria-hidden="true">
              <Spark values={course} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

interface StatsProps {
  readonly stats: readonly Stat[];
  readonly small?: boolean;
  /** At a card's end, without a frame of its own. */
  readonly inCard?: boolean;
}
