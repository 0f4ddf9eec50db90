/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Glyph } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

/** Where something would be: what, and one button to get there. */
export function Empty({ icon, title, under = "h3", children, action }: EmptyProps) {
  const Heading = under;
  return (
    <div class="empty">
      {icon && <Glyph icon={icon} size="large" />}
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
      {action && <div class="row">{action}</div>}
    </div>
  );
}

interface EmptyProps {
  readonly icon?: IconName;
  readonly title: ComponentChildren;
  /** The level of its heading. */
  readonly under?: "h2" | "h3";
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}
