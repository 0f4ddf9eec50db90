/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { Environment } from "../../shared/networks.ts";
import { Bar } from "../../shared/page/bar.tsx";
import { Foot, type FootColumn } from "../../shared/page/foot.tsx";
import { Icon } from "../../shared/page/icon.tsx";
import { Segments } from "../../shared/page/tabs.tsx";
import { requestUrl } from "../../shared/request-url.ts";

export interface LayoutProps {
  readonly env: Environment;
  readonly environments: readonly Environment[];
  readonly section: string;
  /** The path of the page, with its query. */
  readonly here: string;
  readonly children: ComponentChildren;
}

const links = [
  { path: "/", label: "Overview" },
  { path: "/transactions", label: "Settlements" },
  { path: "/payees", label: "Payees" },
  { path: "/resources", label: "Resources" },
  { path: "/docs", label: "Docs" },
  { path: "/status", label: "Status" },
] as const;

const envNames: Readonly<Record<Environment, string>> = { mainnet: "Mainnet", testnet: "Testnet" };

/** A page of the same environment. */
export function inEnv(path: string, env: Environment, environments: readonly Environment[]): string {
  if (env === environments[0]) return path;
  const [, address = "", place = ""] = /^([^#]*)(.*)$/s.exec(path) ?? [];
  return `${address}${address.includes("?") ? "&" : "?"}env=${env}${place}`;
}

export function Layout({ env, environments, section, here, children }: LayoutProps) {
  const to = (path: string) => inEnv(path, env, environments);
  const tabs = environments.length > 1 ? environmentTabs({ env, environments, here }) : [];
  const others = tabs.filter(({ isCurrent }) => !isCurrent);
  return (
    <>
      <Bar
        brand={<Brand />}
        home={to("/")}
        links={links.map(({ path, label }) => ({ href: to(path), label, isCurrent: path === section }))}
        tools={
          <>
            <Find />
            {tabs.length > 0 && (
              <span class="not-small">
                <Segments label="Environment" tabs={tabs} />
              </span>
            )}
          </>
        }
        more={others.length > 0 && others.map(({ href, label }) => <a href={href}>{label}</a>)}
      />
      {env === "testnet" && (
        <aside class="strip-test" aria-label="Test networks">
          <div class="wrap">Test networks: what is paid here is play money.</div>
        </aside>
      )}
      <main id="main">{children}</main>
      <Foot
        brand={<Brand />}
        about="Verifies and settles x402 payments for any server. The payer needs USDC and nothing else; the network fee is paid here."
        columns={footColumns(to)}
        notes={["All times are UTC. Days are UTC days.", "x402 versions 1 and 2"]}
        isLater
      />
    </>
  );
}

function environmentTabs({ env, environments, here }: Pick<LayoutProps, "env" | "environments" | "here">) {
  const url = requestUrl(here);
  // A page of rows belongs to one environment, and so does a filter by network.
  for (const name of ["cursor", "network"]) url.searchParams.delete(name);
  return (["mainnet", "testnet"] as const).map((other) => {
    if (other === environments[0]) url.searchParams.delete("env");
    else url.searchParams.set("env", other);
    return { href: url.pathname + url.search, label: envNames[other], isCurrent: other === env };
  });
}

function Find() {
  return (
    <search class="not-small">
      <form action="/find" class="with-icon">
        <Icon name="search" />
        <label class="vh" for="find">
          Transaction, account or resource
        </label>
        <input
          class="input input-sm"
          id="find"
          name="q"
          type="search"
          placeholder="Transaction or account"
          maxLength={512}
          autocomplete="off"
        />
      </form>
    </search>
  );
}

export function Brand() {
  return (
    <>
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
        <rect width="24" height="24" rx="6.5" fill="currentColor" />
        <path class="mark-cut" d="M9 12h5.5" />
        <circle class="mark-cut" cx="6.75" cy="12" r="2" />
        <circle class="mark-dot" cx="17.25" cy="12" r="2.75" />
      </svg>
      <span>Facilitator</span>
    </>
  );
}

function footColumns(to: (path: string) => string): FootColumn[] {
  return [
    {
      id: "foot-integrate",
      title: "Integrate",
      links: [
        { path: to("/docs"), label: "Quick start" },
        { path: to("/resources/check"), label: "Check my server" },
        { path: to("/docs#reasons"), label: "Reasons" },
        { path: "/openapi.json", label: "OpenAPI 3.1" },
      ],
    },
    {
      id: "foot-raw",
      title: "As a page and as JSON",
      links: ["/stats", "/transactions", "/health"].map((path) => ({ path: to(path), label: <code>GET {path}</code> })),
    },
  ];
}
