/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ButtonLink } from "./button.tsx";

/** To the next rows of a long list, and back to the first ones; links, by cursor. */
export function Pagination({ label, first, next, said }: PaginationProps) {
  return (
    <nav class="pages" aria-label={label}>
      <span>{said}</span>
      <span class="row">
        {first && (
          <ButtonLink size="small" href={first} icon="arrow-left">
            First
          </ButtonLink>
        )}
        {next && (
          <ButtonLink size="small" href={next}>
            Next
          </ButtonLink>
        )}
      </span>
    </nav>
  );
}

interface PaginationProps {
  readonly label: string;
  /** Left out on the first page. */
  readonly first?: string | undefined;
  /** Left out on the last page. */
  readonly next?: string | undefined;
  /** `1 to 24 of 214`. */
  readonly said: ComponentChildren;
}
