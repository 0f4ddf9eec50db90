/** @jsxRuntime automatic @jsxImportSource preact */
import { Hash } from "../../shared/page/copy.tsx";
import { duration, noFigure } from "../../shared/page/figures.ts";
import { Table } from "../../shared/page/table.tsx";
import { reasonMeaning } from "../reasons.ts";
import type { Transactions } from "../transactions.ts";
import { paymentsFor } from "./address.ts";
import { NetworkMark, recordedAmount, StateBadge } from "./words.tsx";

export type RecordRow = Transactions["transactions"][number];

/** Rows of the public record, newest first. `to` keeps links in the environment that is looked at. */
export function RecordTable({
  label,
  rows,
  to,
}: {
  label: string;
  rows: readonly RecordRow[];
  to: (path: string) => string;
}) {
  return (
    <Table
      label={label}
      rows={rows}
      columns={[
        { head: "UTC", cell: ({ created_at: at }) => <When at={at} /> },
        { head: "State", cell: (row) => <Ended row={row} /> },
        { head: "Network", hide: "small", cell: ({ network }) => <NetworkMark network={network} /> },
        { head: "USDC", isNumber: true, cell: recordedAmount },
        { head: "Resource", hide: "medium", cell: ({ resource_url: url }) => <Resource url={url} to={to} /> },
        { head: "Payer", hide: "medium", cell: ({ payer }) => <Account account={payer} side="payers" to={to} /> },
        {
          head: "Paid to",
          hide: "medium",
          cell: ({ pay_to: payTo }) => <Account account={payTo} side="payees" to={to} />,
        },
        {
          head: "Took",
          isNumber: true,
          hide: "small",
          cell: ({ total_ms: ms }) => <span class="dim">{duration(ms)}</span>,
        },
        { head: "Transaction", cell: (row) => <Transaction row={row} to={to} /> },
      ]}
    />
  );
}

function When({ at }: { at: string }) {
  return (
    <time class="when" datetime={at} title={at}>
      <span>{at.slice(5, 10)}</span> <span>{at.slice(11, 19)}</span>
    </time>
  );
}

function Ended({ row: { status, error_reason: reason } }: { row: RecordRow }) {
  return (
    <span title={reason === null ? undefined : `${reasonMeaning(reason)?.means ?? reason} (${reason})`}>
      <StateBadge state={status} />
      {reason !== null && <span class="cell-2 hide-s">{reasonMeaning(reason)?.means ?? reason}</span>}
    </span>
  );
}

export function Resource({ url, to }: { url: string | null; to: (path: string) => string }) {
  if (url === null) return <>{noFigure}</>;
  const whole = url.replace(/^https?:\/\//, "");
  const shown = whole.length > 34 ? `${whole.slice(0, 33)}…` : whole;
  const path = paymentsFor(url);
  if (path === undefined) return <span title={whole}>{shown}</span>;
  return (
    <a class="link" href={to(path)} title={url}>
      {shown}
    </a>
  );
}

export function Account({
  account,
  side,
  to,
}: {
  account: string | null;
  side: "payers" | "payees";
  to: (path: string) => string;
}) {
  if (account === null) return <>{noFigure}</>;
  return (
    <Hash
      short
      value={account}
      label={`Copy account ${account}`}
      href={to(`/${side}/${encodeURIComponent(account)}`)}
    />
  );
}

function Transaction({ row: { tx_id: id }, to }: { row: RecordRow; to: (path: string) => string }) {
  if (id === null) return <span class="dim">none sent</span>;
  return <Hash short value={id} label={`Copy transaction ${id}`} href={to(`/tx/${encodeURIComponent(id)}`)} />;
}
