/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

/** What a colour says. `maybe` is an end that was not seen yet: neither good nor bad. */
export type Tone = "ok" | "warn" | "bad" | "maybe" | "info";

export function Badge({ tone, dot = false, icon, line = false, title, children }: BadgeProps) {
  return (
    <span class={classes("badge", tone && `badge-${tone}`, line && "badge-line")} title={title}>
      {dot && <span class="dot" />}
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

interface BadgeProps {
  readonly tone?: Tone | undefined;
  readonly dot?: boolean;
  readonly icon?: IconName | undefined;
  /** An outline instead of a ground. */
  readonly line?: boolean;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}
