/** @jsxRuntime automatic @jsxImportSource preact */

import { Badge } from "../../../shared/page/badge.tsx";
import { Button, ButtonLink, GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { Select } from "../../../shared/page/field.tsx";
import { figures, noFigure, percent } from "../../../shared/page/figures.ts";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Stats } from "../../../shared/page/stats.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { figuresDays } from "../../agents/count-runs.ts";
import { latestPayouts, type Payout } from "../../agents/creator-payouts.ts";
import { type CreatorProfile, findCreator, type PayoutWallet } from "../../agents/creator-profile.ts";
import { type AgentPage, listAgents } from "../../agents/list.ts";
import { listQuery } from "../../agents/list-query.ts";
import type { Config } from "../../config.ts";
import { readQuery } from "../../query.ts";
import { AgentCard } from "../agent/agent-card.tsx";
import { NetworkMark, networkName } from "../agent/networks.tsx";
import { SettledTable } from "../home/settled-table.tsx";
import type { Page } from "../page.ts";

const agentsAPage = 24;

interface Needs {
  readonly config: Pick<Config, "publicUrl">;
}

/** A creator: their agents, and where payments for them go. A former handle redirects to the present one. */
export function creatorPage({ config }: Needs): Page {
  const { publicUrl } = config;
  return {
    path: "/{handle}",
    scriptBytesMax: 8_000,
    show: async ({ params, query, read }) => {
      const asked = String(params.handle);
      const creator = await read((db) => findCreator(db, asked));
      const { handle } = creator;
      if (handle !== asked) return { redirect: `/${handle}` };
      const order = query.get("sort") ?? "most_run";
      const cursor = query.get("cursor") ?? "";
      const listed = readQuery(listQuery, { creator: handle, sort: order, cursor, limit: String(agentsAPage) });
      const [page, payouts] = await read((db) =>
        Promise.all([listAgents({ db, publicUrl }, listed), creator.showsProof ? latestPayouts(db, handle) : []]),
      );
      return {
        title: `${handle}: agents`,
        description: creator.about ?? `Agents by ${handle}: prices, success rates, and where payments for them go.`,
        type: "profile",
        isPrivate: cursor !== "",
        isPublic: true,
        body: (
          <Creator
            creator={creator}
            payouts={payouts}
            page={page}
            order={order}
            isFirst={cursor === ""}
            publicUrl={publicUrl}
          />
        ),
      };
    },
  };
}

interface CreatorProps {
  readonly creator: CreatorProfile;
  readonly payouts: readonly Payout[];
  readonly page: AgentPage;
  readonly order: string;
  readonly isFirst: boolean;
  readonly publicUrl: string;
}

function Creator({ creator, payouts, page, order, isFirst, publicUrl }: CreatorProps) {
  const { handle, since } = creator;
  return (
    <div class="wrap page stack stack-8">
      <div class="page-head">
        <Crumbs trail={[{ href: "/explore", label: "Explore" }]} here={handle} />
        <div class="agent-head">
          <span class="avatar avatar-lg" aria-hidden="true">
            {handle.slice(0, 1)}
          </span>
          <div class="grow">
            <h1>{handle}</h1>
            <p class="row row-3 small faint">
              <span class="mono dim">
                {new URL(publicUrl).host}/{handle}
              </span>
              <span>
                here since <Time at={since} />
              </span>
            </p>
          </div>
          {creator.showsProof && (
            <ButtonLink icon="verified" href={`/proof/${handle}`}>
              Ledger proof
            </ButtonLink>
          )}
        </div>
        {creator.about !== null && <p class="dim measure">{creator.about}</p>}
      </div>
      <CreatorFigures creator={creator} />
      <div class="cols cols-8-4">
        <section class="stack" aria-labelledby="agents">
          <div class="row between">
            <h2 id="agents">Agents</h2>
            <Order order={order} />
          </div>
          <div class="grid">
            {page.agents.map((agent) => (
              <AgentCard agent={agent} under="h3" />
            ))}
          </div>
          {(page.cursor !== null || !isFirst) && (
            <Pagination
              label="Pages"
              said={`${figures(page.total)} agents`}
              first={isFirst ? undefined : `/${handle}?sort=${order}`}
              next={page.cursor === null ? undefined : `/${handle}?sort=${order}&cursor=${page.cursor}`}
            />
          )}
        </section>
        <PaidTo wallets={creator.wallets} />
      </div>
      {payouts.length > 0 && <Payouts payouts={payouts} proof={`/proof/${handle}`} />}
    </div>
  );
}

function CreatorFigures({ creator: { agents, runs, succeeded, lastSuccessAt } }: Pick<CreatorProps, "creator">) {
  const rate = runs === 0 ? null : succeeded / runs;
  return (
    <Stats
      stats={[
        { name: "Agents", value: figures(agents), note: "listed" },
        { name: `Runs, ${figuresDays} days`, value: figures(runs), note: "without the creator’s own" },
        {
          name: "Success rate",
          value: percent(rate),
          note: failedNote(runs, succeeded),
        },
        {
          name: "Last success",
          value: lastSuccessAt ? <Time at={lastSuccessAt} show="ago" /> : noFigure,
          note: "of any agent",
        },
      ]}
    />
  );
}

function failedNote(runs: number, succeeded: number): string {
  if (runs === 0) return "no runs yet";
  const failed = runs - succeeded;
  return failed === 0 ? "none failed" : `${figures(failed)} failed, nothing charged`;
}

const orders = [
  { value: "most_run", label: "Most run" },
  { value: "cheapest", label: "Cheapest" },
  { value: "newest", label: "Newest" },
];

function Order({ order }: { order: string }) {
  return (
    <form class="row row-tight">
      <Select name="sort" aria-label="Sort by" size="small" value={order} choices={orders} />
      <Button size="small">Sort</Button>
    </form>
  );
}

function Payouts({ payouts, proof }: Pick<CreatorProps, "payouts"> & { proof: string }) {
  return (
    <section class="stack" aria-labelledby="payouts">
      <div class="row between">
        <h2 id="payouts">Latest payouts</h2>
        <GoLink href={proof}>All, with totals recomputed</GoLink>
      </div>
      <div class="card">
        <SettledTable label="The latest payouts" calls={payouts} />
      </div>
    </section>
  );
}

function PaidTo({ wallets }: { wallets: readonly PayoutWallet[] }) {
  return (
    <Card
      id="paid-to"
      title="Paid to"
      foot={wallets.length > 0 && "Payments go from the buyer to these accounts. The marketplace never holds them."}
    >
      {wallets.length === 0 && <p class="small dim">These agents are run with credits, or for nothing.</p>}
      {wallets.map(({ network, address, provedAt, checkedAt }) => (
        <div class="stack stack-1">
          <div class="row between">
            <span class="net">
              <span aria-hidden="true">
                <NetworkMark network={network} />
              </span>
              {networkName(network)}
            </span>
            <Badge tone="ok" dot>
              checked
            </Badge>
          </div>
          <Hash value={address} label={`Copy the account on ${networkName(network)}`} short />
          <span class="tiny faint">
            added <Time at={provedAt} />, checked <Time at={checkedAt} show="ago" />
          </span>
        </div>
      ))}
    </Card>
  );
}
