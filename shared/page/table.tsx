/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";

export interface Column<Row> {
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligned right, in figures of one width; the unit stands in the head. */
  readonly isNumber?: boolean;
  /** Left out where there is little room: `small` on phones, `medium` below 60rem. */
  readonly hide?: "small" | "medium";
}

/** Rows and columns. It scrolls by itself where it is too wide, also by keyboard. */
export function Table<Row>({ label, columns, rows, tall = false, plain = false, stack = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="table-box" aria-label={label} tabIndex={0}>
      <table class={classes("table", tall && "table-tall", plain && "table-plain", stack && "table-stack")}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td class={classOf(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TableProps<Row> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly tall?: boolean;
  readonly plain?: boolean;
  /** On phones the cells of a row stand below each other, for cells of words. */
  readonly stack?: boolean;
}

function classOf({ isNumber, hide }: Pick<Column<never>, "isNumber" | "hide">): string | undefined {
  const hidden = hide && { small: "hide-s", medium: "hide-m" }[hide];
  return classes(isNumber && "num", hidden) || undefined;
}

/** Names and what they say, in two columns. */
export function KeyValues({ lines = false, entries }: KeyValuesProps) {
  return (
    <dl class={classes("kv", lines && "kv-lines")}>
      {entries.map(([key, value]) => (
        <>
          <dt>{key}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

interface KeyValuesProps {
  readonly lines?: boolean;
  readonly entries: ReadonlyArray<readonly [ComponentChildren, ComponentChildren]>;
}
