/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Callout } from "../../../shared/page/callout.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import type { IconName } from "../../../shared/page/icons.tsx";
import type { AccountVisit } from "./console-page.tsx";

/** A page of the console, with links to the others beside it. */
export function ConsoleFrame({ visit, title, lede, aside, frame, notice, isLate, children }: ConsoleFrameProps) {
  const said = isLate ? (
    <Callout tone="warn" role="alert" title="What this form was about is not there any more">
      It was replaced or removed since, in another tab or on another device. Nothing was done; this is how it is now.
    </Callout>
  ) : (
    notice && (
      <div data-notice="">
        <Callout tone="ok" role="status" title={notice} />
      </div>
    )
  );
  if (frame === "bare") {
    return (
      <>
        {said && <div class="wrap">{said}</div>}
        {children}
      </>
    );
  }
  return (
    <div class="wrap page">
      <div class="shell">
        <SideNavigation visit={visit} />
        <div class="stack stack-8">
          <div class="row between row-4">
            <div class="grow">
              <h1>{title}</h1>
              {lede && <p class="dim small">{lede}</p>}
            </div>
            {aside}
          </div>
          {said}
          {children}
        </div>
      </div>
    </div>
  );
}

interface ConsoleFrameProps {
  readonly visit: AccountVisit;
  readonly title: string;
  readonly lede: ComponentChildren;
  readonly aside: ComponentChildren;
  readonly frame: "bare" | undefined;
  readonly notice: string | undefined;
  readonly isLate: boolean;
  readonly children: ComponentChildren;
}

interface Entry {
  /** The page's path, as it declares it. */
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Where it leads, when that is not its path. */
  readonly href?: (handle: string) => string;
}

/** A line a page. What the site does not have is not shown. */
const parts: ReadonlyArray<{ readonly title: string; readonly entries: readonly Entry[] }> = [
  {
    title: "Account",
    entries: [
      { path: "/settings/account", label: "Account", icon: "user" },
      { path: "/settings/keys", label: "API keys", icon: "key" },
      { path: "/settings/credits", label: "Credits", icon: "coins" },
      { path: "/activity", label: "Activity", icon: "activity" },
      { path: "/settings/operator-acts", label: "Operators’ acts", icon: "shield" },
    ],
  },
  {
    title: "Creating",
    entries: [
      { path: "/build", label: "Agents", icon: "grid" },
      { path: "/figures", label: "Figures", icon: "figures" },
      { path: "/settings/wallets", label: "Payout wallets", icon: "wallet" },
      { path: "/proof/{handle}", label: "Ledger proof", icon: "verified", href: (handle) => `/proof/${handle}` },
    ],
  },
];

function SideNavigation({ visit: { has, path: here, account } }: { visit: AccountVisit }) {
  return (
    <nav class="side" aria-label="Console">
      {parts.map(({ title, entries }) => {
        const there = entries.filter(({ path }) => has(path));
        return (
          there.length > 0 && (
            <>
              <p class="side-title">{title}</p>
              <ul>
                {there.map(({ path, label, icon, href }) => (
                  <li>
                    <a href={href?.(account.handle) ?? path} aria-current={isUnder(path, here) ? "page" : undefined}>
                      <Icon name={icon} />
                      {label}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          )
        );
      })}
    </nav>
  );
}

function isUnder(path: string, here: string): boolean {
  return here === path || here.startsWith(`${path}/`);
}
