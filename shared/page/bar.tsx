/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

interface BarProps {
  readonly brand: ComponentChildren;
  /** Where the brand leads. */
  readonly home: string;
  /** The main pages; on small screens they stand in the menu. */
  readonly links: readonly BarLink[];
  /** What stands before the button of the theme, such as a search. */
  readonly tools?: ComponentChildren;
  /** What stands after it, such as the account. */
  readonly account?: ComponentChildren;
  /** What only the menu of small screens has, under its links. */
  readonly more?: ComponentChildren;
}

interface BarLink {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

/** The head of every page: the way past it, the main pages, and on small screens a menu of them. */
export function Bar({ brand, home, links, tools, account, more }: BarProps) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <div class="wrap">
          <a class="brand" href={home}>
            {brand}
          </a>
          <nav class="bar-nav" aria-label="Main">
            <BarLinks links={links} />
          </nav>
          <div class="bar-end">
            {tools}
            <ThemeToggle />
            {account}
            <MenuButton />
          </div>
        </div>
      </header>
      <div class="pop pop-menu" id="menu" popover="auto">
        <nav aria-label="Menu">
          <BarLinks links={links} />
          {more && <hr />}
          {more}
        </nav>
      </div>
    </>
  );
}

function BarLinks({ links }: Pick<BarProps, "links">) {
  return (
    <>
      {links.map(({ href, label, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? "page" : undefined}>
          {label}
        </a>
      ))}
    </>
  );
}

/** Works with JavaScript only, and appears with it. */
function ThemeToggle() {
  return (
    <Button
      look="ghost"
      size="small"
      icon="theme"
      type="button"
      hidden
      data-theme-toggle=""
      aria-label="Switch between light and dark"
    />
  );
}

function MenuButton() {
  return (
    <Button
      class="only-small"
      look="ghost"
      size="small"
      icon="menu"
      type="button"
      popovertarget="menu"
      aria-label="Menu"
    />
  );
}
