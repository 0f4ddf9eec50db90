/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Copy } from "./copy.tsx";

/** A block of code with a button that copies it. `id` is that of the code's element. */
export function Code({ id, title, aside, wrap = false, children }: CodeProps) {
  return (
    <div class={wrap ? "code code-wrap" : "code"}>
      <div class="code-head">
        <span>{title}</span>
        {aside}
        <Copy label={`Copy: ${title}`} of={id} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code id={id}>{children}</code>
      </pre>
    </div>
  );
}

interface CodeProps {
  readonly id: string;
  readonly title: string;
  readonly aside?: ComponentChildren;
  /** Long lines are broken instead of scrolled. */
  readonly wrap?: boolean;
  readonly children: ComponentChildren;
}
