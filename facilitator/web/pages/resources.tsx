/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { type Environment, toCaip2 } from "../../../shared/networks.ts";
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Select } from "../../../shared/page/field.tsx";
import { figures, percent } from "../../../shared/page/figures.ts";
import { Icon } from "../../../shared/page/icon.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { listedNetworks } from "../../discovery/listed-networks.ts";
import { listedDays, readPlace } from "../../discovery/listing.ts";
import {
  type AskedResources,
  isByLastPayment,
  offsetMax,
  type ResourceOrder,
  type ResourcesPage,
  recordDays,
  recordedResources,
  resourceOrders,
} from "../../discovery/resource-record.ts";
import { resourcesMax } from "../../discovery/store.ts";
import { oneOf, opaque, readQuery, text, whole } from "../../http/query.ts";
import { inEnv } from "../layout.tsx";
import type { Page, Visit } from "../page.ts";

import type { SiteNeeds } from "../site.ts";
import { amountIn, NetworkMark, networkChoices } from "../words.tsx";
import { resourcePage } from "./resource.tsx";

type Needs = Pick<SiteNeeds, "reads" | "config" | "schemes">;

/** Resources that were paid for here and may be listed, with the settlements for them. */
export function resourcePages(context: Needs, environments: readonly Environment[]): Page[] {
  return [
    {
      path: "/resources",
      scriptBytesMax: 2_048,
      show: async (visit) => {
        const { networks, ...asked } = readAsked(context, visit);
        const page = await context.reads.run((db) => recordedResources({ db }, { ...asked, networks }));
        const served = context.schemes.all
          .map(({ network }) => network)
          .filter((network) => context.config.environmentOf(network) === visit.env);
        return {
          title: "Resources",
          description: "Paid resources whose payments settle here.",
          section: "/resources",
          isPublic: true,
          body: (
            <Listed {...{ asked, page, served }} to={(path) => inEnv(path, visit.env, environments)} env={visit.env} />
          ),
        };
      },
    },
    resourcePage(context, environments),
  ];
}

/** Reads the address; throws 400 on anything it does not know. */
function readAsked(context: Needs, { query, env }: Visit): Asked & Pick<AskedResources, "networks"> {
  const { q, network, price, sort, from, cursor } = readQuery(resourcesQuery, Object.fromEntries(query));
  const words = (q ?? "").trim();
  const order = sort ?? "match";
  if (cursor && !isByLastPayment({ query: words, order })) throw foreignCursor();
  return {
    query: words,
    network: network ?? "",
    networks: network === undefined ? listedNetworks(context, env) : [toCaip2(network)],
    priceMax: price === undefined ? undefined : BigInt(prices[price].atomic),
    price,
    order,
    offset: from,
    place: cursor,
  };
}

const foreignCursor = () =>
  new ApiError("bad_request", "cursor must be one of the list without words, in the order of the last payments.", {
    body: { field: "cursor" },
  });

interface Asked extends Omit<AskedResources, "networks"> {
  readonly network: string;
  readonly price: keyof typeof prices | undefined;
}

const prices = {
  "0.01": { atomic: 10_000, label: "Up to 0.01 USDC" },
  "0.1": { atomic: 100_000, label: "Up to 0.10 USDC" },
  "1": { atomic: 1_000_000, label: "Up to 1 USDC" },
} as const;
const priceNames = Object.keys(prices) as ReadonlyArray<keyof typeof prices>;

const orderNames: Readonly<Record<ResourceOrder, string>> = {
  match: "Best match",
  price: "Cheapest first",
  "-price": "Dearest first",
};

const resourcesQuery = {
  q: text(512, "Words to look for."),
  network: text(100, "CAIP-2 id."),
  price: oneOf(priceNames, "The highest price, USDC."),
  sort: oneOf(resourceOrders, "What comes first."),
  from: whole({ min: 0, max: offsetMax, fallback: 0, description: "Resources to skip." }),
  cursor: opaque(readPlace, "Where the page begins."),
};

interface ListedProps {
  readonly asked: Asked;
  readonly env: Environment;
  readonly page: ResourcesPage;
  readonly served: readonly string[];
  readonly to: (path: string) => string;
}

function Listed({ asked, env, page: { resources, next }, served, to }: ListedProps) {
  const at = (next: { readonly offset: number } | { readonly cursor: string }) => {
    const search = new URLSearchParams({
      ...(asked.query && { q: asked.query }),
      ...(asked.network && { network: asked.network }),
      ...(asked.price && { price: asked.price }),
      ...(asked.order !== "match" && { sort: asked.order }),
      ...("cursor" in next ? { cursor: next.cursor } : next.offset > 0 && { from: String(next.offset) }),
    });
    return to(`/resources${search.size > 0 ? `?${search}` : ""}`);
  };
  const { offset, place } = asked;
  const isNarrowed = asked.query || asked.network || asked.price;
  return (
    <div class="wrap page stack stack-6">
      <div class="row between row-4">
        <div class="grow">
          <h1>Resources</h1>
          <p class="dim small">
            What was paid for through this facilitator within {listedDays} days and asked to be listed.
          </p>
        </div>
        <ButtonLink look="primary" href={to("/resources/check")}>
          Check my server
        </ButtonLink>
      </div>
      <Filters asked={asked} env={env} served={served} />
      <Card
        id="listed"
        title="Listed"
        bare
        foot={
          <Pagination
            label="Resources"
            first={offset > 0 || place ? at({ offset: 0 }) : undefined}
            next={next === undefined ? undefined : at(next)}
            said={`Payments and success of ${recordDays} days.`}
          />
        }
      >
        {resources.length > 0 ? (
          <ResourceTable resources={resources} to={to} />
        ) : (
          <Empty
            icon="search"
            title="Nothing is listed that fits"
            action={isNarrowed && <ButtonLink href={to("/resources")}>Without filters</ButtonLink>}
          >
            Here would be resources that were paid for in {listedDays} days and asked to be listed. If yours is not,
            check it: the answer says why.
          </Empty>
        )}
      </Card>
      <Ranking />
    </div>
  );
}

function Filters({ asked, env, served }: Pick<ListedProps, "asked" | "env" | "served">) {
  return (
    <search>
      <form class="row row-3" action="/resources">
        <input type="hidden" name="env" value={env} />
        <div class="with-icon grow">
          <Icon name="search" />
          <label class="vh" for="rq">
            Search resources
          </label>
          <input
            class="input"
            id="rq"
            name="q"
            type="search"
            value={asked.query}
            placeholder="Host, path or what it does"
            maxLength={200}
          />
        </div>
        <Select name="network" aria-label="Network" {...networkChoices(served, asked.network)} />
        <Select
          name="price"
          aria-label="Price"
          value={asked.price ?? ""}
          choices={[
            { value: "", label: "Any price" },
            ...priceNames.map((value) => ({ value, label: prices[value].label })),
          ]}
        />
        <Select
          name="sort"
          aria-label="Order"
          value={asked.order === "match" ? "" : asked.order}
          choices={resourceOrders.map((value) => ({
            value: value === "match" ? "" : value,
            label: value === "match" && asked.query === "" ? "Paid last first" : orderNames[value],
          }))}
        />
        <Button>Search</Button>
      </form>
    </search>
  );
}

function ResourceTable({ resources, to }: { resources: ResourcesPage["resources"]; to: ListedProps["to"] }) {
  return (
    <Table
      label="Table of resources"
      rows={resources}
      columns={[
        {
          head: "Resource",
          cell: ({ id, resource, description, serviceName }) => (
            <>
              <a class="strong link" href={to(`/resources/${id}`)}>
                {serviceName ?? new URL(resource).host}
              </a>
              <span class="cell-2 mono said">{pathOf(resource)}</span>
              {description && <span class="cell-2">{description.slice(0, 120)}</span>}
            </>
          ),
        },
        {
          head: "Network",
          hide: "small",
          cell: ({ accepts }) => (
            <span class="row row-3">
              {[...new Set((accepts ?? []).map(({ network }) => network))].slice(0, 3).map((one) => (
                <NetworkMark network={one} />
              ))}
            </span>
          ),
        },
        { head: "USDC", isNumber: true, cell: ({ price }) => amountIn(price?.toString() ?? null) },
        { head: "Payments", isNumber: true, hide: "small", cell: ({ settled }) => figures(settled) },
        {
          head: "Success",
          isNumber: true,
          cell: ({ settled, failed }) => percent(settled + failed === 0 ? undefined : settled / (settled + failed)),
        },
        { head: "Last paid", hide: "medium", cell: ({ lastUpdated }) => <Time at={lastUpdated} show="ago" /> },
      ]}
    />
  );
}

function pathOf(resource: string): string {
  const { host, pathname } = new URL(resource);
  return `${host}${pathname}`.slice(0, 80);
}

function Ranking() {
  return (
    <Disclosure summary="How ranking works">
      <p class="small dim measure">
        Without words, the resource that was paid for last comes first. With words, those that have any of them, best
        match first: a service’s name and tags count more than its description, that more than its address; among equals
        the one paid for last. Only payments that settled here count, a listing ends {listedDays} days after the last of
        them, and a place cannot be bought. Price, payments and success are those on the networks that are shown,
        counted for what was paid into the resource’s own wallets, over all paths of a route. Prices are in USDC: what
        takes none has no price here, and is left out where the cheapest or dearest come first or a highest price is
        asked for. One wallet can have {resourcesMax} resources listed of one host.
      </p>
    </Disclosure>
  );
}
