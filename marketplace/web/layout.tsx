/** @jsxRuntime automatic @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { Badge, type Tone } from "../../shared/page/badge.tsx";
import { Bar } from "../../shared/page/bar.tsx";
import { ButtonLink } from "../../shared/page/button.tsx";
import { figures } from "../../shared/page/figures.ts";
import { Foot, type FootColumn } from "../../shared/page/foot.tsx";
import { Icon } from "../../shared/page/icon.tsx";
import { dollarsPerCredit } from "../answers/amounts.ts";
import type { Status } from "../status/service-status.ts";
import { Brand } from "./brand.tsx";
import { nameOf, type Viewer } from "./viewer.ts";

/** What every page has around it. */
export interface LayoutProps {
  /** The path of the page, with its query. */
  readonly here: string;
  readonly viewer: Viewer | undefined;
  /** Whether the site has a page there: nothing links to what there is not. */
  readonly has: (path: string) => boolean;
  /** Undefined until the service has looked. */
  readonly standing: Standing | undefined;
  /** The facilitator's own status page. */
  readonly facilitator: string;
  readonly children: ComponentChildren;
}

export type Standing = Status["status"];

interface Link {
  readonly path: string;
  readonly label: string;
}

const mainLinks: readonly Link[] = [
  { path: "/explore", label: "Explore" },
  { path: "/svg", label: "SVG" },
  { path: "/build", label: "Build" },
  { path: "/docs", label: "Docs" },
];

export function Layout({ here, viewer, has, standing, facilitator, children }: LayoutProps) {
  return (
    <>
      <Bar
        brand={<Brand />}
        home="/"
        links={mainLinks
          .filter(({ path }) => has(path))
          .map(({ path, label }) => ({ href: path, label, isCurrent: isUnder(path, here) }))}
        tools={has("/explore") && <Find />}
        account={viewer ? <Account viewer={viewer} has={has} /> : <SignIn here={here} />}
        more={!viewer && <a href={signInPath(here)}>Sign in</a>}
      />
      <main id="main">{children}</main>
      <Foot
        isLater
        brand={<Brand />}
        about="Paid agents for developers. Creators are paid to their own wallet; the service never holds that money."
        columns={footColumns.map((column) => ({ ...column, links: column.links.filter(({ path }) => has(path)) }))}
        notes={[
          <span class="row row-3">
            {standing && <StandingLink standing={standing} />}
            <a class="link" href={facilitator}>
              Facilitator
            </a>
          </span>,
          `1 credit = ${dollarsPerCredit}`,
        ]}
      />
    </>
  );
}

/** How the services are, in a word, on every page. */
function StandingLink({ standing }: { standing: Standing }) {
  const { tone, said } = standings[standing];
  return (
    <a href="/status">
      <Badge tone={tone} dot={true}>
        {said}
      </Badge>
    </a>
  );
}

const standings: Readonly<Record<Standing, { tone: Tone; said: string }>> = {
  ok: { tone: "ok", said: "Everything works" },
  degraded: { tone: "warn", said: "Part of it does not work" },
  down: { tone: "bad", said: "Out of order" },
};

function isUnder(path: string, here: string): boolean {
  return here === path || here.startsWith(`${path}/`) || here.startsWith(`${path}?`);
}

function Find() {
  return (
    <a class="bar-find" href="/explore" data-find="">
      <Icon name="search" />
      <span>Search agents</span>
      <kbd>/</kbd>
    </a>
  );
}

function SignIn({ here }: { here: string }) {
  return (
    <ButtonLink class="not-small" size="small" href={signInPath(here)}>
      Sign in
    </ButtonLink>
  );
}

/** The page that opens an account for a person who is signed in without one. */
export const openAccountPath = "/settings/open";

/** Where an operator shows that it is they; leads back to the path in `next`. */
export const confirmPath = "/admin/confirm";

export function confirmAt(next: string): string {
  return `${confirmPath}?next=${encodeURIComponent(next)}`;
}

/** Signing in leads back to the present page. */
export function signInPath(here: string): string {
  return here === "/" || here.startsWith("/sign-in") ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}`;
}

/** The account's menu, and signing out. */
function Account({ viewer, has }: { viewer: Viewer; has: LayoutProps["has"] }) {
  const name = nameOf(viewer);
  const links = accountLinks.filter(({ path }) => has(path));
  return (
    <>
      {viewer.spendable !== undefined && <Balance credits={viewer.spendable} has={has} />}
      <button class="avatar" type="button" popovertarget="account">
        <span class="vh">Account: {name}</span>
        <span aria-hidden="true">
          {name
            .replace(/^0[x.]/, "")
            .slice(0, 1)
            .toUpperCase()}
        </span>
      </button>
      <div class="pop pop-menu" id="account" popover="auto">
        <p class="pop-name">{name}</p>
        {viewer.account ? <MenuLinks links={links} /> : <a href={openAccountPath}>Open an account</a>}
        <hr />
        <form action="/sign-out" method="post">
          <button type="submit">Sign out</button>
        </form>
      </div>
    </>
  );
}

function Balance({ credits, has }: { credits: bigint; has: LayoutProps["has"] }) {
  const said = (
    <>
      <b>{figures(credits)}</b> credits
    </>
  );
  if (!has("/settings/credits")) return <span class="balance not-small">{said}</span>;
  return (
    <a class="balance not-small" href="/settings/credits" title="What your account can spend">
      {said}
    </a>
  );
}

function MenuLinks({ links }: { links: readonly Link[] }) {
  return (
    <>
      {links.map(({ path, label }) => (
        <a href={path}>{label}</a>
      ))}
    </>
  );
}

const accountLinks: readonly Link[] = [
  { path: "/activity", label: "Activity" },
  { path: "/settings/keys", label: "API keys" },
  { path: "/settings/credits", label: "Credits" },
  { path: "/settings/wallets", label: "Payout wallets" },
  { path: "/build", label: "Your agents" },
  { path: "/settings/account", label: "Account" },
];

const footColumns: ReadonlyArray<Omit<FootColumn, "links"> & { readonly links: readonly Link[] }> = [
  {
    id: "foot-run",
    title: "Run",
    links: [
      { path: "/explore", label: "Explore" },
      { path: "/svg", label: "SVG workbench" },
      { path: "/mcp", label: "MCP clients" },
      { path: "/pricing", label: "Pricing" },
    ],
  },
  {
    id: "foot-create",
    title: "Create",
    links: [
      { path: "/build", label: "Build an agent" },
      { path: "/docs/publishing", label: "Publishing" },
      { path: "/docs/connectors", label: "Connectors" },
    ],
  },
  {
    id: "foot-reference",
    title: "Reference",
    links: [
      { path: "/docs", label: "Docs" },
      { path: "/docs/api", label: "API" },
      { path: "/api/v1/openapi.json", label: "OpenAPI 3.1" },
      { path: "/llms.txt", label: "llms.txt" },
    ],
  },
  {
    id: "foot-service",
    title: "Service",
    links: [
      { path: "/status", label: "Status" },
      { path: "/terms", label: "Terms" },
      { path: "/privacy", label: "Privacy" },
      { path: "/imprint", label: "Imprint" },
    ],
  },
];
