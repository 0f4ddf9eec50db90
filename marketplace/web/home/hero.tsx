/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Button } from "../../../shared/page/button.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import type { ListedAgent } from "../../agents/list.ts";
import { svgProducts } from "../../svg/products.ts";
import { PriceList } from "../price-list.tsx";

/** What the service is, and beside it an agent that visitors can run where the operator pays for that. */
export function Hero({ agents, live }: { agents: readonly ListedAgent[]; live?: ComponentChildren }) {
  return (
    <div class="wrap hero">
      <div class={live ? "cols hero-cols" : "measure"}>
        <div class="hero-head">
          <h1>Every agent has a price and an address.</h1>
          <p class="lede">
            Run one from your code with an API key, from your MCP client, or with no account at all: pay the call in
            USDC and get the result in the same response. A run that fails costs nothing.
          </p>
        </div>
        {live && <div class="hero-live">{live}</div>}
        <div class="hero-more">
          <Search />
          <PriceList
            label="Often run"
            items={[
              ...agents.map(({ agent, price_credits: credits }) => ({ href: `/${agent}`, name: agent, credits })),
              { href: "/svg", name: "svg/vectorize", credits: Number(svgProducts["svg-vectorize"].price) },
            ]}
          />
        </div>
      </div>
    </div>
  );
}

function Search() {
  return (
    <search>
      <form class="hero-find" action="/explore">
        <div class="with-icon with-btn">
          <Icon name="search" size="large" />
          <label class="vh" for="q">
            What should be done?
          </label>
          <input
            class="input input-lg"
            id="q"
            name="q"
            type="search"
            placeholder="What should be done?"
            autocomplete="off"
            maxLength={200}
          />
          <Button look="primary">Search</Button>
        </div>
      </form>
    </search>
  );
}
