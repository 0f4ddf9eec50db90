/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

/** More text, closed until the reader opens it. */
export function Disclosure({ summary, open = false, children }: DisclosureProps) {
  return (
    <details class="disclose" open={open}>
      <summary>
        <Icon name="chevron-right" />
        {summary}
      </summary>
      {children}
    </details>
  );
}

interface DisclosureProps {
  readonly summary: ComponentChildren;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}
