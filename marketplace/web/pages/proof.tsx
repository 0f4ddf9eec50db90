/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { type Proof, proofQuery, proofState, readProof, showProof } from "../../proof/ledger-proof.ts";
import { readQuery } from "../../query.ts";
import { admitAccountChange } from "../../sign-in/require-session.ts";
import { stablecoinOn } from "../../stablecoins.ts";
import { explorerOf, NetworkMark, networkName } from "../agent/networks.tsx";
import { usdc } from "../home/usdc.ts";
import type { Page, View, Visit } from "../page.ts";

/** Every payout to a creator beside its transaction, for every visitor, if the creator switched it on. */
export function proofPage({ db }: { readonly db: Database }): Page {
  return {
    path: "/proof/{handle}",
    scriptBytesMax: 8_000,
    show: (visit) => show(db, visit),
    submit: {
      bytesMax: 1_024,
      take: async (visit, form) => {
        const own = ownAccount(visit);
        if (!own) throw new ApiError("not_found", "There is no such proof.");
        await admitAccountChange(db, own);
        await showProof(db, own.id, form.get("shown") === "true");
        return { redirect: `/proof/${own.handle}` };
      },
    },
  };
}

/** The account whose page it is, when its holder looks. */
function ownAccount({ viewer, params }: Visit) {
  const own = viewer?.account;
  return own && own.state === "open" && own.handle === String(params.handle).toLowerCase() ? own : undefined;
}

async function show(db: Database, visit: Visit): Promise<View | { redirect: string }> {
  const own = ownAccount(visit);
  const asked = String(visit.params.handle);
  if (own && (await proofState(db, own.id)).since === undefined) return { ...hidden(own.handle), isPrivate: true };
  const cursor = visit.query.get("cursor") ?? "";
  const proof = await readProof(db, asked, readQuery(proofQuery, { cursor }));
  if (proof.handle !== asked) return { redirect: `/proof/${proof.handle}` };
  return {
    title: `${proof.handle}: ledger proof`,
    description: `Every payout to ${proof.handle}, each with its transaction on the chain.`,
    isPrivate: cursor !== "",
    islands: ["proof.js"],
    body: <Payouts proof={proof} isFirst={cursor === ""} isOwn={own !== undefined} />,
  };
}

function hidden(handle: string): View {
  return {
    title: "Ledger proof",
    headers: { "cache-control": "no-store" },
    body: (
      <div class="wrap page stack stack-8">
        <ProofHead handle={handle} />
        <Callout title="Only you see this page">
          Switched on, everybody sees every payout to your wallets: when, how much, to which wallet and in which
          transaction. Who paid, and for which agent, is not told.
        </Callout>
        <Switch shown />
      </div>
    ),
  };
}

function Switch({ shown }: { shown?: boolean }) {
  return (
    <form method="post">
      <input type="hidden" name="shown" value={shown ? "true" : "false"} />
      <Button look={shown ? "primary" : undefined}>
        {shown ? "Show my payouts to everybody" : "Show them no longer"}
      </Button>
    </form>
  );
}

function ProofHead({ handle }: { handle: string }) {
  return (
    <div class="page-head">
      <Crumbs trail={[{ href: `/${handle}`, label: handle }]} here="Ledger proof" />
      <h1>Ledger proof of {handle}</h1>
      <p class="lede">
        Buyers pay the creator’s wallet directly. Each payout stands beside its transaction: what the chain says counts.
      </p>
    </div>
  );
}

function Payouts({ proof, isFirst, isOwn }: { proof: Proof; isFirst: boolean; isOwn: boolean }) {
  const { handle, payouts, cursor } = proof;
  const base = `/proof/${handle}`;
  return (
    <div class="wrap page stack stack-8">
      <ProofHead handle={handle} />
      <Totals proof={proof} />
      <section class="stack" aria-labelledby="payouts">
        <h2 id="payouts">Payouts</h2>
        {payouts.length === 0 ? (
          <Empty icon="coins" title="Nothing was paid out yet">
            Calls that are paid one by one appear here with their transactions.
          </Empty>
        ) : (
          <div class="card">
            <PayoutTable proof={proof} />
          </div>
        )}
        {(cursor !== null || !isFirst) && (
          <Pagination
            label="Pages"
            said={`${figures(payouts.length)} payouts, newest first`}
            first={isFirst ? undefined : base}
            next={cursor === null ? undefined : `${base}?cursor=${cursor}`}
          />
        )}
      </section>
      {isOwn && <Switch />}
    </div>
  );
}

function Totals({ proof: { handle, totals, totals_at, counted, is_complete, shown_since } }: { proof: Proof }) {
  return (
    <Card
      id="totals"
      title="Totals"
      aside={<Badge>{is_complete ? "all payouts" : `newest ${figures(counted)}`}</Badge>}
      foot={
        <>
          <span>
            Added up <Time at={totals_at} show="moment" />: payouts that settled since are below, and not in the totals
            yet. Shown since <Time at={shown_since} />.
          </span>
          <span class="push row" id="recompute" data-proof={`/api/creators/${handle}/proof`} hidden>
            <output aria-live="polite" />
            <Button type="button" size="small">
              Recompute here
            </Button>
          </span>
        </>
      }
      bare
    >
      <Table
        label="Totals by network"
        rows={totals}
        columns={[
          { head: "Network", cell: ({ network }) => <Network network={network} /> },
          { head: "Payouts", isNumber: true, cell: ({ payouts }) => figures(payouts) },
          { head: "USDC", isNumber: true, cell: ({ network, asset, amount }) => amountOf(network, asset, amount) },
        ]}
      />
    </Card>
  );
}

function PayoutTable({ proof: { payouts } }: { proof: Proof }) {
  return (
    <Table
      label="Payouts, newest first"
      rows={payouts}
      columns={[
        { head: "Paid", cell: ({ at }) => <Time at={at} show="moment" /> },
        { head: "Network", hide: "small", cell: ({ network }) => <Network network={network} /> },
        { head: "USDC", isNumber: true, cell: ({ network, asset, amount }) => amountOf(network, asset, amount) },
        { head: "To", hide: "medium", cell: ({ pay_to }) => <Hash short value={pay_to} label="Copy wallet" /> },
        {
          head: "Transaction",
          cell: ({ network, transaction }) => (
            <Hash short value={transaction} label="Copy transaction" href={explorerOf(network, transaction)} />
          ),
        },
      ]}
    />
  );
}

function Network({ network }: { network: string }) {
  return (
    <span class="net">
      <span aria-hidden="true">
        <NetworkMark network={network} />
      </span>
      {networkName(network)}
    </span>
  );
}

/** In USDC where it was paid in that, as everything here is; otherwise in the asset's base units. */
function amountOf(network: string, asset: string, amount: string): string {
  const coin = stablecoinOn(network);
  return coin?.asset.toLowerCase() === asset.toLowerCase() ? usdc(BigInt(amount)) : `${amount} units of ${asset}`;
}
