/** @jsxRuntime automatic @jsxImportSource preact */
import { creditsOf, usdcOf } from "./money.tsx";

/** Names and prices with leaders between them, each a link. */
export function PriceList({ label, items }: PriceListProps) {
  return (
    <nav class="menu" aria-label={label}>
      {items.map(({ href, name, credits }) => (
        <a href={href}>
          <code>{name}</code>
          <b>{credits === 0 ? "Free" : creditsOf(credits)}</b>
          <span>{credits === 0 ? "no account" : usdcOf(credits)}</span>
        </a>
      ))}
    </nav>
  );
}

interface PriceListProps {
  readonly label: string;
  readonly items: ReadonlyArray<{ readonly href: string; readonly name: string; readonly credits: number }>;
}
