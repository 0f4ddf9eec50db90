/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import type { Environment } from "../../../shared/networks.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Crumbs, Tabs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { listedNetworks } from "../../discovery/listed-networks.ts";
import { explorersOf } from "../../explorer.ts";
import { readQuery } from "../../http/query.ts";
import { type AccountRecord, accountRecord, type Counterparty, counterparties } from "../../settlements/accounts.ts";
import { type Sold, soldBy } from "../../settlements/payees.ts";
import { type Newest, newestTransactions, transactionsQuery } from "../../transactions.ts";
import { inEnv } from "../layout.tsx";
import type { Page, Visit } from "../page.ts";
import { nameOf } from "../payee-table.tsx";
import { Account, RecordTable } from "../record-table.tsx";
import { usdc } from "../words.tsx";
import type { ReadNeeds } from "./transactions.tsx";

type Side = "payers" | "payees";

/** What the public record says of one account, as who pays and as who is paid. */
export function accountPages(context: ReadNeeds, environments: readonly Environment[]): Page[] {
  return (["payers", "payees"] as const).map((side) => ({
    path: `/${side}/{account}`,
    scriptBytesMax: 2_048,
    show: async (visit: Visit) => {
      const account = visit.params.account ?? "";
      if (!/^[\w.:-]{1,100}$/.test(account)) throw new ApiError("not_found", "That is no account of any chain.");
      const query = { env: visit.env, limit: "10", [side === "payers" ? "payer" : "pay_to"]: account };
      const other = side === "payers" ? "payees" : "payers";
      const [known, others, recent, sold] = await context.reads.run((db) =>
        Promise.all([
          accountRecord(db, visit.env, account),
          counterparties(db, { env: visit.env, account, side: other }),
          newestTransactions({ ...context, db }, readQuery(transactionsQuery, query)),
          side === "payees" ? soldBy(db, account, listedNetworks(context, visit.env)) : [],
        ]),
      );
      const to = (path: string) => inEnv(path, visit.env, environments);
      return {
        title: `${side === "payers" ? "Payer" : "Payee"} ${account}`,
        section: "/transactions",
        isPrivate: true,
        isPublic: true,
        body: (
          <AccountView
            {...{ account: known?.account ?? account, side, known, others, recent, sold, to }}
            explorers={explorersOf(context.config, visit.env, account)}
          />
        ),
      };
    },
  }));
}

interface AccountViewProps {
  readonly account: string;
  readonly side: Side;
  readonly known: AccountRecord | undefined;
  readonly others: readonly Counterparty[];
  readonly recent: Newest;
  readonly sold: readonly Sold[];
  readonly explorers: ReturnType<typeof explorersOf>;
  readonly to: (path: string) => string;
}

function AccountView({ account, side, known, others, recent, sold, explorers, to }: AccountViewProps) {
  const path = (other: Side) => to(`/${other}/${encodeURIComponent(account)}`);
  return (
    <div class="wrap page stack stack-6">
      <div class="page-head">
        <Crumbs
          trail={[{ href: to("/transactions"), label: "Settlements" }]}
          here={side === "payers" ? "Payer" : "Payee"}
        />
        <h1>
          <Hash value={account} label="Copy account" />
        </h1>
        <p class="small dim row row-4">
          {known ? (
            <span>
              First seen <Time at={known.firstAt} />, last <Time at={known.lastAt} show="ago" />
            </span>
          ) : (
            <span>No payment of or into this account has settled here.</span>
          )}
          {known?.isSelfPayer && <Badge tone="warn">self-payments</Badge>}
          {explorers.map(({ name, href }) => (
            <a class="link" href={href} rel="noreferrer">
              {name}’s explorer
            </a>
          ))}
        </p>
      </div>
      <Tabs
        label="Side"
        tabs={[
          { href: path("payers"), label: "As payer", isCurrent: side === "payers" },
          { href: path("payees"), label: "As payee", isCurrent: side === "payees" },
        ]}
      />
      {known && <Figures known={known} side={side} />}
      <div class="stack stack-6">
        <Recent account={account} side={side} recent={recent} to={to} />
        {sold.length > 0 && <NamedBy sold={sold} to={to} />}
        <Others side={side} others={others} to={to} />
      </div>
    </div>
  );
}

function Recent({ account, side, recent, to }: Pick<AccountViewProps, "account" | "side" | "recent" | "to">) {
  const { rows, hasMore } = recent;
  const filter = side === "payers" ? "payer" : "pay_to";
  return (
    <Card
      id="recent"
      title={side === "payers" ? "Its payments" : "Payments into it"}
      bare
      foot={
        (rows.length > 0 || hasMore) && (
          <GoLink class="small push" href={to(`/transactions?${filter}=${encodeURIComponent(account)}`)}>
            All
          </GoLink>
        )
      }
    >
      {rows.length > 0 ? (
        <RecordTable label="Table of payments" rows={rows} to={to} />
      ) : (
        <NoneRecent side={side} hasMore={hasMore} />
      )}
    </Card>
  );
}

function NoneRecent({ side, hasMore }: { side: Side; hasMore: boolean }) {
  if (hasMore) {
    return (
      <Empty icon="wallet" title="None among the newest">
        There may be older ones, further back than this page looks.
      </Empty>
    );
  }
  return (
    <Empty icon="wallet" title="Nothing recorded">
      Here would be every payment {side === "payers" ? "of" : "into"} this account.
    </Empty>
  );
}

/** Any server can name any account, so nothing is said to be the account's own. */
function NamedBy({ sold, to }: Pick<AccountViewProps, "sold" | "to">) {
  return (
    <Card
      id="sold"
      title="Listed resources that name this account"
      aside={<span class="small faint">most paid into it first</span>}
      bare
    >
      <Table
        label="Table of resources that name this account"
        plain
        rows={sold}
        columns={[
          {
            head: "Resource",
            cell: (one) => (
              <>
                <a class="link strong said" href={to(`/resources/${one.id}`)}>
                  {nameOf(one)}
                </a>
                <span class="cell-2 mono said">{one.resource}</span>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Figures({ known, side }: { known: AccountRecord; side: Side }) {
  const isPayer = side === "payers";
  return (
    <Stats
      stats={[
        {
          name: isPayer ? "Payments settled" : "Payments received",
          value: figures(isPayer ? known.paid : known.received),
        },
        {
          name: isPayer ? "Paid" : "Received",
          value: usdc(isPayer ? known.paidVolume : known.receivedVolume),
          unit: "USDC",
        },
        { name: isPayer ? "Payees" : "Payers", value: figures(isPayer ? known.payees : known.payers) },
        {
          name: isPayer ? "Received itself" : "Paid itself",
          value: usdc(isPayer ? known.receivedVolume : known.paidVolume),
          unit: "USDC",
        },
      ]}
    />
  );
}

function Others({ side, others, to }: Pick<AccountViewProps, "side" | "others" | "to">) {
  const other: Side = side === "payers" ? "payees" : "payers";
  return (
    <Card id="others" title={side === "payers" ? "Whom it paid most often" : "Who paid it most often"} bare>
      {others.length === 0 ? (
        <Empty title="No account yet">Here would be the other side of its settled payments.</Empty>
      ) : (
        <Table
          label="Table of the other side"
          plain
          rows={others}
          columns={[
            { head: "Account", cell: ({ account }) => <Account account={account} side={other} to={to} /> },
            { head: "Payments", isNumber: true, cell: ({ settlements }) => figures(settlements) },
            { head: "USDC", isNumber: true, cell: ({ volume }) => usdc(volume) },
          ]}
        />
      )}
    </Card>
  );
}
