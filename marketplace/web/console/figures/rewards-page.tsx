/** @jsxRuntime automatic @jsxImportSource preact */
import { z } from "zod";
import { formatUnits } from "../../../../shared/amounts.ts";
import { Badge } from "../../../../shared/page/badge.tsx";
import { Hash } from "../../../../shared/page/copy.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { findOwnAgent, listOwnAgents } from "../../../agents/creator-agents.ts";
import { listRewards, type Reward } from "../../../connectors/x/rewards.ts";
import { offsetQuery, readQuery } from "../../../query.ts";
import { explorerOf } from "../../agent/networks.tsx";
import { creditsOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { consolePage } from "../console-page.tsx";
import { FiguresFrame } from "./figures-frame.tsx";

const rewardsPerPage = 50;
const placeShape = z.object({ offset: offsetQuery("Rewards").offset });

/** What an agent has paid for posts on X, and to whom. */
export function rewardsPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/figures/{slug}/rewards",
      scriptBytesMax: 4_096,
      show: async ({ account, params, query }) => {
        const agent = await findOwnAgent(db, account.id, params.slug ?? "");
        const { offset } = readQuery(placeShape, { offset: query.get("offset") ?? "" });
        const [agents, rewards] = await Promise.all([
          listOwnAgents(db, account.id),
          listRewards(db, account.id, { limit: rewardsPerPage + 1, offset, agent: agent.slug }),
        ]);
        return {
          title: agent.name,
          lede: "What this agent has paid for posts on X, newest first. A post, and an author, is rewarded once.",
          body: (
            <FiguresFrame agent={agent} agents={agents} tab="rewards">
              <Rewards slug={agent.slug} rewards={rewards} offset={offset} />
            </FiguresFrame>
          ),
        };
      },
    },
  );
}

function Rewards({ slug, rewards, offset }: { slug: string; rewards: readonly Reward[]; offset: number }) {
  const page = rewards.slice(0, rewardsPerPage);
  const path = `/figures/${slug}/rewards`;
  if (page.length === 0) {
    return (
      <Empty icon="gift" title={offset === 0 ? "Nothing paid yet" : "No more rewards"} under="h2">
        Each reward will stand here, with the post that it is for.
      </Empty>
    );
  }
  return (
    <section class="card" aria-labelledby="rewards-title">
      <div class="card-head">
        <h2 id="rewards-title">Rewards paid</h2>
      </div>
      <Table
        label="Rewards paid (table)"
        rows={page}
        columns={[
          { head: "When", cell: ({ created_at: at }) => <Time at={at} show="ago" /> },
          {
            head: "State",
            cell: ({ state }) => (
              <Badge tone={tones[state]} dot>
                {state}
              </Badge>
            ),
          },
          { head: "Author", cell: ({ username }) => `@${username}` },
          { head: "Post", hide: "small", cell: ({ post_id: id }) => <PostLink id={id} /> },
          { head: "To", hide: "medium", cell: ({ recipient }) => <span class="mono">{recipient}</span> },
          { head: "Amount", isNumber: true, cell: ({ amount, asset }) => amountOf(amount, asset) },
          { head: "Transaction", hide: "small", cell: (reward) => <Transaction reward={reward} /> },
        ]}
      />
      <div class="card-foot">
        <div class="grow">
          <Pagination
            label="Rewards"
            said={`${offset + 1} to ${offset + page.length}`}
            first={offset > 0 ? path : undefined}
            next={rewards.length > rewardsPerPage ? `${path}?offset=${offset + rewardsPerPage}` : undefined}
          />
        </div>
      </div>
    </section>
  );
}

const tones = { claimed: "maybe", paid: "ok", void: "warn" } as const;

/** Amounts are whole base units; a token's decimals are known to its issuer alone. */
function amountOf(amount: string, asset: string): string {
  if (asset === "hbar") return `${formatUnits(BigInt(amount), 8)} HBAR`;
  return asset === "credits" ? creditsOf(BigInt(amount)) : `${amount} units of ${asset}`;
}

function PostLink({ id }: { id: string }) {
  if (!/^\d{1,25}$/.test(id)) return <span class="mono">{id}</span>;
  return (
    <a class="link mono" href={`https://x.com/i/status/${id}`} rel="noreferrer">
      …{id.slice(-6)}
    </a>
  );
}

function Transaction({ reward: { network, transaction_id: id } }: { reward: Reward }) {
  if (!network || !id) return <>–</>;
  return <Hash value={id} short label="Copy transaction" href={explorerOf(network, id)} />;
}
