/** @jsxRuntime automatic @jsxImportSource preact */

import { Button } from "../../../shared/page/button.tsx";
import { classes } from "../../../shared/page/classes.ts";
import { Choice, Select } from "../../../shared/page/field.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { categories, categoryNames } from "../../agents/category.ts";
import { priceMax } from "../../agents/definition.ts";
import type { FacetCounts } from "../../agents/facet-counts.ts";
import { creditWorth } from "../../answers/amounts.ts";
import { connectorIds, connectorNames } from "../../connectors/connector.ts";
import { NetworkMark, networkName } from "../agent/networks.tsx";
import { type Asked, exploreHref, isNarrowed } from "./asked.ts";

/** The form that everything on the page that is typed, ticked or chosen belongs to. */
export const formId = "explore";

/** Beside the list on wide windows; on narrow ones a sheet that its address opens, with or without JavaScript. */
export function Filters({ asked, counts, found }: FiltersProps) {
  const { query } = asked;
  const { creator, tag } = query;
  return (
    <aside class={classes("filters", isNarrowed(asked) && "is-narrowed")} id="filters" aria-labelledby="filters-title">
      <a class="filters-veil" href="#main" tabIndex={-1}>
        <span class="vh">Back to the list</span>
      </a>
      <div class="filters-sheet">
        <div class="filters-head">
          <h2 id="filters-title">Filters</h2>
          <a class="link small" href={exploreHref({ parameters: new Map(query.q ? [["q", query.q]] : []) })}>
            Clear
          </a>
          <a class="btn btn-ghost btn-sm push" href="#main" data-close-filters="">
            Close
          </a>
        </div>
        <div class="filters-body stack stack-6">
          <Paying asked={asked} counts={counts} />
          <Categories asked={asked} counts={counts} />
          <Networks asked={asked} counts={counts} />
          <Connectors asked={asked} counts={counts} />
          <Prices asked={asked} />
          {creator && <input type="hidden" form={formId} name="creator" value={creator} />}
          {tag && <input type="hidden" form={formId} name="tag" value={tag} />}
        </div>
        <div class="filters-foot">
          <Button form={formId} block>
            Apply
          </Button>
          <Button class="only-small" form={formId} look="primary" size="large" block data-found="">
            {showLabel(found)}
          </Button>
        </div>
      </div>
    </aside>
  );
}

interface Part {
  readonly asked: Asked;
  readonly counts: FacetCounts;
}

interface FiltersProps extends Part {
  /** How many agents the list has. */
  readonly found: string;
}

/** `Show 148 agents`. */
const showLabel = (found: string) => `Show ${found}`;

function Paying({ asked: { query }, counts }: Part) {
  return (
    <fieldset class="stack stack-2">
      <legend class="label">Paying</legend>
      <Choice
        form={formId}
        name="per_call"
        value="true"
        checked={query.per_call}
        label="Without an account"
        count={figures(counts.perCall)}
      />
      <Choice form={formId} name="free" value="true" checked={query.free} label="Free" count={figures(counts.free)} />
    </fieldset>
  );
}

function Categories({ asked: { query }, counts }: Part) {
  const shown = categories.filter((id) => counts.categories.has(id) || id === query.category);
  const choices = shown.map((id) => ({
    value: id,
    label: categoryNames[id],
  }));
  return (
    <div class="stack stack-2">
      <label class="label" for="category">
        Category
      </label>
      <Select
        id="category"
        form={formId}
        name="category"
        value={query.category ?? ""}
        choices={[{ value: "", label: "All" }, ...choices]}
      />
    </div>
  );
}

function Networks({ asked: { query }, counts }: Part) {
  const shown = [...new Set([...counts.networks.keys(), ...(query.network ?? [])])];
  if (shown.length === 0) return null;
  return (
    <fieldset class="stack stack-2">
      <legend class="label">Network</legend>
      {shown.map((id) => (
        <Choice
          form={formId}
          name="network"
          value={id}
          checked={query.network?.includes(id)}
          label={
            <span class="net">
              <span aria-hidden="true">
                <NetworkMark network={id} />
              </span>
              {networkName(id)}
            </span>
          }
          count={figures(counts.networks.get(id) ?? 0)}
        />
      ))}
    </fieldset>
  );
}

function Connectors({ asked: { query }, counts }: Part) {
  const shown = connectorIds.filter((id) => counts.connectors.has(id) || query.connector?.includes(id));
  return (
    <fieldset class="stack stack-2">
      <legend class="label">Connector</legend>
      {shown.map((id) => (
        <Choice
          form={formId}
          name="connector"
          value={id}
          checked={query.connector?.includes(id)}
          label={connectorNames[id]}
          count={figures(counts.connectors.get(id) ?? 0)}
        />
      ))}
    </fieldset>
  );
}

/** Shows the prices as they were typed, even where they cannot be read. */
function Prices({ asked: { parameters } }: Pick<Part, "asked">) {
  return (
    <fieldset class="stack stack-2">
      <legend class="label">Price of one run</legend>
      <div class="row row-tight">
        <Price name="min_price" label="From" empty="0" value={parameters.get("min_price")} />
        <span class="faint">to</span>
        <Price name="max_price" label="To" empty="any" value={parameters.get("max_price")} />
      </div>
      <p class="help">In credits; {creditWorth}.</p>
    </fieldset>
  );
}

interface PriceProps {
  readonly name: string;
  readonly label: string;
  /** What an empty field stands for. */
  readonly empty: string;
  readonly value: string | undefined;
}

function Price({ name, label, empty, value }: PriceProps) {
  return (
    <>
      <label class="vh" for={name}>
        {label}, credits
      </label>
      <span class="affix">
        <input
          class="input num"
          id={name}
          form={formId}
          name={name}
          type="number"
          inputMode="numeric"
          placeholder={empty}
          min={0}
          max={priceMax}
          step={1}
          value={value}
        />
      </span>
    </>
  );
}
