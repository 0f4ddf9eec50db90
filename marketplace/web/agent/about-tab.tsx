/** @jsxRuntime automatic @jsxImportSource preact */
import { Empty } from "../../../shared/page/empty.tsx";
import { duration, figures, percent } from "../../../shared/page/figures.ts";
import { creditsOf } from "../../../shared/page/money.tsx";
import { Stats } from "../../../shared/page/stats.tsx";
import { type Column, KeyValues, Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { categoryNames } from "../../agents/category.ts";
import type { PublicVersion } from "../../agents/public-versions.ts";
import { NetworkMark, networkName } from "./networks.tsx";
import type { ShownAgent } from "./shown-agent.ts";

/** What it is, how it did, who is paid, and what was published when. */
export function AboutTab({ shown, versions }: { shown: ShownAgent; versions: readonly PublicVersion[] }) {
  const { detail, agent } = shown;
  const { figures: done } = detail;
  return (
    <div class="cols cols-8-4">
      <div class="stack stack-6">
        <section class="stack stack-2 measure">
          <h2>What it does</h2>
          <p class="dim">{detail.description}</p>
          <p class="dim">
            {agent.version.permanent
              ? "What a run does cannot be undone, so it is paid before it runs; a payment whose run failed stays good."
              : "It runs before it is paid: a run that fails costs nothing."}
          </p>
        </section>
        <section class="stack">
          <h2>Last 30 days</h2>
          <Stats
            stats={[
              { name: "Runs", value: figures(done.runs_30d) },
              { name: "Succeeded", value: percent(done.success_rate) },
              { name: "Median", value: duration(done.median_ms) },
              { name: "Slowest of 20", value: duration(done.p95_ms) },
            ]}
          />
        </section>
        <section class="stack">
          <h2>Versions</h2>
          {versions.length === 0 ? (
            <Empty title="No version is public" />
          ) : (
            <div class="card">
              <Table label="Versions, newest first" columns={versionColumns} rows={versions} />
            </div>
          )}
        </section>
      </div>
      <Creator shown={shown} />
    </div>
  );
}

function Creator({ shown }: { shown: ShownAgent }) {
  const { detail, handle } = shown;
  return (
    <aside class="stack">
      <div class="card">
        <div class="card-head">
          <span class="avatar avatar-lg" aria-hidden="true">
            {handle.slice(0, 1).toUpperCase()}
          </span>
          <h2>
            <a class="link" href={`/${handle}`}>
              {handle}
            </a>
          </h2>
        </div>
        <div class="card-body">
          <KeyValues
            entries={[
              ["Paid on", <Payouts shown={shown} />],
              ["Category", categoryNames[detail.category]],
              ["Tags", detail.tags.length === 0 ? "–" : detail.tags.join(", ")],
              ["Since", <Time at={detail.created_at} />],
            ]}
          />
        </div>
        <div class="card-foot">
          <a class="link small" href={`/${detail.agent}/report`}>
            Report this agent
          </a>
        </div>
      </div>
    </aside>
  );
}

function Payouts({ shown: { agent } }: { shown: ShownAgent }) {
  if (agent.wallets.length === 0) return <>credits only</>;
  return (
    <span class="row row-3">
      {agent.wallets.map(({ network }) => (
        <span class="net">
          <NetworkMark network={network} />
          <span aria-hidden="true">{networkName(network)}</span>
        </span>
      ))}
    </span>
  );
}

const versionColumns: ReadonlyArray<Column<PublicVersion>> = [
  { head: "Version", cell: ({ version, isLive }) => `${version}${isLive ? ", live" : ""}` },
  { head: "Published", cell: ({ publishedAt }) => <Time at={publishedAt} /> },
  {
    head: "Price",
    isNumber: true,
    cell: ({ priceCredits }) => (priceCredits === 0n ? "free" : creditsOf(priceCredits)),
  },
];
