/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";
import { Glyph } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

/** A part of a page with a heading of its own, which names it for screen readers. No card stands in a card. */
export function Card({ id, title, icon, aside, lift = false, foot, bare = false, isLater, children }: CardProps) {
  const heading = title === undefined ? undefined : `${id}-title`;
  return (
    <section class={classes("card", lift && "card-lift", isLater && "later")} id={id} aria-labelledby={heading}>
      {title !== undefined && (
        <div class="card-head">
          {icon && <Glyph icon={icon} />}
          <h2 id={heading}>{title}</h2>
          {aside && <div class="push row">{aside}</div>}
        </div>
      )}
      {bare ? children : <div class="card-body stack">{children}</div>}
      {foot && <div class="card-foot">{foot}</div>}
    </section>
  );
}

interface CardProps {
  readonly id: string;
  readonly title?: ComponentChildren;
  readonly icon?: IconName;
  /** At the head's end. */
  readonly aside?: ComponentChildren;
  /** Floats: for what is live on a storefront. */
  readonly lift?: boolean;
  readonly foot?: ComponentChildren;
  /** The children bring the card's body themselves, such as a table or a form. */
  readonly bare?: boolean;
  /** Laid out when it is scrolled to, or by the page's script. */
  readonly isLater?: boolean;
  readonly children?: ComponentChildren;
}
