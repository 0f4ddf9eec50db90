/** @jsxRuntime automatic @jsxImportSource preact */

import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Select } from "../../../shared/page/field.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { type FacetCounts, readFacetCounts } from "../../agents/facet-counts.ts";
import { type AgentPage, type ListedAgent, type ListNeeds, listAgents } from "../../agents/list.ts";
import { type ListQuery, listQuery } from "../../agents/list-query.ts";
import type { Config } from "../../config.ts";
import { readQuery } from "../../query.ts";
import { type Asked, readAsked } from "../explore/asked.ts";
import { Filters, formId } from "../explore/filters.tsx";
import { Found, FoundLine, foundLabel } from "../explore/found.tsx";
import type { Page } from "../page.ts";

const agentsAPage = 24;
const nearAgents = 3;

interface Needs {
  readonly config: Pick<Config, "publicUrl">;
}

/** Agents by task, price and how they can be paid. All of it is in the address, and works as a form. */
export function explorePage({ config: { publicUrl } }: Needs): Page {
  return {
    path: "/explore",
    scriptBytesMax: 8_000,
    show: async ({ query, read }) => {
      const asked = readAsked(query, agentsAPage);
      const { page, counts, near } = await read((db) => readExplored({ db, publicUrl }, asked.query));
      const { q } = asked.query;
      return {
        title: q ? `Agents for “${q}”` : "Explore agents",
        description: "Agents by task, price, success rate and network, to run with credits or by paying one call.",
        status: asked.problem === undefined ? 200 : 400,
        isPrivate: asked.parameters.size > 0,
        isPublic: true,
        islands: ["explore.js"],
        body: <Explore asked={asked} page={page} counts={counts} near={near} />,
      };
    },
  };
}

async function readExplored(needs: ListNeeds & { readonly db: Database }, query: ListQuery) {
  const [page, counts] = await Promise.all([listAgents(needs, query), readFacetCounts(needs.db)]);
  return { page, counts, near: page.agents.length === 0 && counts.agents > 0 ? await mostRun(needs) : [] };
}

async function mostRun(needs: ListNeeds): Promise<readonly ListedAgent[]> {
  return (await listAgents(needs, readQuery(listQuery, { sort: "most_run", limit: String(nearAgents) }))).agents;
}

interface ExploreProps {
  readonly asked: Asked;
  readonly page: AgentPage;
  readonly counts: FacetCounts;
  readonly near: readonly ListedAgent[];
}

function Explore({ asked, page, counts, near }: ExploreProps) {
  return (
    <div class="wrap page">
      <div class="page-head">
        <h1>Explore</h1>
        <Search words={asked.parameters.get("q")} />
      </div>
      <div class="shell">
        <Filters asked={asked} counts={counts} found={foundLabel(page)} />
        <section class="stack" aria-label="Agents">
          <div class="row row-3 between">
            <div class="row" id="found-line">
              <FoundLine asked={asked} page={page} all={counts.agents} />
            </div>
            <Order asked={asked} />
          </div>
          <div class="stack" id="found">
            <Found asked={asked} page={page} near={near} />
          </div>
        </section>
      </div>
    </div>
  );
}

function Search({ words }: { words: string | undefined }) {
  return (
    <search>
      <form id={formId} action="/explore">
        <div class="with-icon with-btn">
          <Icon name="search" size="large" />
          <label class="vh" for="q">
            Search agents
          </label>
          <input
            class="input input-lg"
            id="q"
            name="q"
            type="search"
            value={words}
            maxLength={200}
            placeholder="Task, agent or creator"
            autocomplete="off"
          />
          <Button look="primary">Search</Button>
        </div>
      </form>
    </search>
  );
}

/** Without words there is no best match. */
const ordersOf = (words: string | undefined) => [
  ...(words === undefined ? [] : [{ value: "", label: "Best match" }]),
  { value: words === undefined ? "" : "most_run", label: "Most run" },
  { value: "cheapest", label: "Cheapest" },
  { value: "newest", label: "Newest" },
];

function orderOf({ parameters, query: { q } }: Asked): string {
  const sort = parameters.get("sort") ?? "";
  return sort === "relevance" || (sort === "most_run" && q === undefined) ? "" : sort;
}

function Order({ asked }: Pick<ExploreProps, "asked">) {
  return (
    <div class="row row-tight">
      <ButtonLink class="only-small" size="small" icon="sliders" href="#filters">
        Filters
      </ButtonLink>
      <Select
        form={formId}
        name="sort"
        aria-label="Sort by"
        size="small"
        value={orderOf(asked)}
        choices={ordersOf(asked.query.q)}
      />
      <noscript>
        <Button size="small" form={formId}>
          Sort
        </Button>
      </noscript>
    </div>
  );
}
