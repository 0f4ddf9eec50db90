/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";

interface FootProps {
  readonly brand: ComponentChildren;
  /** What the service is, in a sentence or two. */
  readonly about: string;
  readonly columns: readonly FootColumn[];
  /** What is true of every page, such as the time zone. */
  readonly notes: readonly ComponentChildren[];
  /** Laid out when it is scrolled to, or by the page's script. */
  readonly isLater?: boolean;
}

export interface FootColumn {
  readonly id: string;
  readonly title: string;
  readonly links: ReadonlyArray<{ readonly path: string; readonly label: ComponentChildren }>;
}

/** The foot of every page; a column without links is not shown. */
export function Foot({ brand, about, columns, notes, isLater }: FootProps) {
  return (
    <footer class={classes("foot", isLater && "later")}>
      <div class="wrap">
        <div class="foot-cols">
          <div class="stack stack-2">
            <span class="brand">{brand}</span>
            <p class="measure">{about}</p>
          </div>
          {columns
            .filter(({ links }) => links.length > 0)
            .map(({ id, title, links }) => (
              <nav aria-labelledby={id}>
                <h2 id={id}>{title}</h2>
                <ul>
                  {links.map(({ path, label }) => (
                    <li>
                      <a href={path}>{label}</a>
                    </li>
                  ))}
                </ul>
              </nav>
            ))}
        </div>
        <div class="foot-end">
          {notes.filter(Boolean).map((note) => (
            <span>{note}</span>
          ))}
        </div>
      </div>
    </footer>
  );
}
