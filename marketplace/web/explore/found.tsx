/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Icon } from "../../../shared/page/icon.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import type { AgentPage, ListedAgent, UnderstoodSearch } from "../../agents/list.ts";
import { AgentCard } from "../agent/agent-card.tsx";
import { type Asked, apiCall, exploreHref, filtersOn, isNarrowed } from "./asked.ts";

/** `148 agents`, `more than 1,000 agents`. */
export function foundLabel({ total, total_exact }: Pick<AgentPage, "total" | "total_exact">): string {
  return `${total_exact ? "" : "more than "}${figures(total)} ${total === 1 ? "agent" : "agents"}`;
}

/** How many there are, and what the list is narrowed by: each filter is a link to the list without it. */
export function FoundLine({ asked, page, all }: { asked: Asked; page: AgentPage; all: number }) {
  const on = filtersOn(asked);
  return (
    <>
      <span class="small dim num" role="status">
        <b class="strong">{foundLabel(page)}</b>
        {isNarrowed(asked) && ` of ${figures(all)}`}
      </span>
      {on.map(({ label, without }) => (
        <a class="chip chip-on" href={without}>
          {label} <Icon name="close" />
          <span class="vh">remove</span>
        </a>
      ))}
      {on.length > 1 && (
        <a class="link small" href={exploreHref({ parameters: new Map(asked.query.q ? [["q", asked.query.q]] : []) })}>
          Clear
        </a>
      )}
    </>
  );
}

export function Found({ asked, page, near }: FoundProps) {
  const { query, problem } = asked;
  if (problem !== undefined) return <Callout tone="bad" role="alert" title={problem} />;
  return (
    <>
      {page.search && <Understood search={page.search} isEmpty={page.agents.length === 0} />}
      {page.agents.length === 0 ? (
        <NothingFound asked={asked} near={near} />
      ) : (
        <>
          <div class="grid">
            {page.agents.map((agent, index) => (
              <AgentCard agent={agent} isLater={index >= firstScreenMax} />
            ))}
          </div>
          {(page.cursor !== null || query.cursor !== undefined) && (
            <Pagination
              label="Pages"
              said={query.cursor === undefined ? saidOf(page) : foundLabel(page)}
              first={query.cursor === undefined ? undefined : exploreHref(asked)}
              next={page.cursor === null ? undefined : exploreHref(asked, { cursor: page.cursor })}
            />
          )}
        </>
      )}
      <Callout icon="idea" title="This list over the API">
        <p>
          <code class="icode">{apiCall(asked)}</code>
        </p>
      </Callout>
    </>
  );
}

/** How many cards the first screen of a phone may show, and part of the next. */
const firstScreenMax = 3;

interface FoundProps {
  readonly asked: Asked;
  readonly page: AgentPage;
  /** Agents to show where nothing was found. */
  readonly near: readonly ListedAgent[];
}

function saidOf({ agents, total, total_exact }: AgentPage): string {
  return `1–${figures(agents.length)} of ${total_exact ? "" : "more than "}${figures(total)}`;
}

/** How the words were read, where that was not as they stand there. */
function Understood({ search, isEmpty }: { search: UnderstoodSearch; isEmpty: boolean }) {
  const { all_words, read_as, unknown } = search;
  const hasSomeWords = !all_words && unknown.length === 0 && !isEmpty;
  if (read_as.length === 0 && (unknown.length === 0 || isEmpty) && !hasSomeWords) return null;
  return (
    <Callout tone="info">
      {read_as.map(({ word, as }) => (
        <p>
          No agent has “{word}”. Searched for <b>{as.map((one) => `“${one}”`).join(" or ")}</b> instead.
        </p>
      ))}
      {unknown.length > 0 && !isEmpty && (
        <p>Left out, since no agent has it: {unknown.map((word) => `“${word}”`).join(", ")}.</p>
      )}
      {hasSomeWords && <p>No agent has all of these words. Those with most of them come first.</p>}
    </Callout>
  );
}

function NothingFound({ asked, near }: Pick<FoundProps, "asked" | "near">) {
  const { q } = asked.query;
  const isFiltered = filtersOn(asked).length > 0;
  const all = exploreHref({ parameters: new Map(q && isFiltered ? [["q", q]] : []) });
  return (
    <>
      <Empty
        icon="search"
        under="h2"
        title={q ? `No agent found for “${q}”` : "No agent has all of that"}
        action={
          <ButtonLink look="primary" href={all}>
            {isFiltered ? "Without the filters" : "All agents"}
          </ButtonLink>
        }
      >
        {isFiltered ? "The filters may be too narrow." : "Try a word for the task, such as “summary” or “image”."}
      </Empty>
      {near.length > 0 && (
        <section class="stack" aria-labelledby="near">
          <h2 id="near">Run most at the moment</h2>
          <div class="grid">
            {near.map((agent) => (
              <AgentCard agent={agent} under="h3" />
            ))}
          </div>
        </section>
      )}
    </>
  );
}
