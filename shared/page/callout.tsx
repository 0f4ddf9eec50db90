/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { Tone } from "./badge.tsx";
import { classes } from "./classes.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

/** Something to know before going on: what happened, whether money moved, what next. */
export function Callout({ tone, icon, title, role, children }: CalloutProps) {
  return (
    <div class={classes("callout", tone && `callout-${tone}`)} role={role}>
      <Icon name={icon ?? (tone ? usualIcons[tone] : "info")} />
      <div class="grow">
        {title && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}

interface CalloutProps {
  readonly tone?: Tone | undefined;
  readonly icon?: IconName | undefined;
  readonly title?: ComponentChildren;
  /** `alert` or `status` where it appears while the page is read. */
  readonly role?: "alert" | "status" | undefined;
  readonly children?: ComponentChildren;
}

const usualIcons = { ok: "ok", warn: "warning", bad: "alert", maybe: "unknown", info: "info" } as const;
