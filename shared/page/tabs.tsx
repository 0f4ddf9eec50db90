/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";

export interface Tab {
  readonly href: string;
  readonly label: ComponentChildren;
  readonly isCurrent: boolean;
}

/** Tabs are links, so that each has an address and works without JavaScript. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, label: text, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** One of a few, side by side, as links. */
export function Segments({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="seg" aria-label={label}>
      {tabs.map(({ href, label: text, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? "true" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** Where this page stands, from the top; the last is the page itself. */
export function Crumbs({ trail, here }: { trail: ReadonlyArray<{ href: string; label: string }>; here: string }) {
  return (
    <nav aria-label="Breadcrumb">
      <ol class="crumbs">
        {trail.map(({ href, label }) => (
          <li>
            <a href={href}>{label}</a>
          </li>
        ))}
        <li>
          <span aria-current="page">{here}</span>
        </li>
      </ol>
    </nav>
  );
}
