/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Badge } from "../../../../shared/page/badge.tsx";
import { Hash } from "../../../../shared/page/copy.tsx";
import { noFigure } from "../../../../shared/page/figures.ts";
import type { Column } from "../../../../shared/page/table.tsx";
import { effectOf } from "../../../credits/statement.ts";
import type { AccountStatement } from "../../../credits/statement-totals.ts";
import { historyDays } from "../../../history-days.ts";
import { explorerOf, NetworkMark } from "../../agent/networks.tsx";
import type { StatementAsked } from "./asked.ts";

type Posting = AccountStatement["postings"][number];

interface Shown {
  readonly hasEarned: boolean;
  readonly linksRuns: boolean;
  readonly asked: StatementAsked;
}

/** The statement's table: the credits that came in or went out, of which kind, and the balance after. */
export function statementColumns({ hasEarned, linksRuns, asked }: Shown): Column<Posting>[] {
  return [
    { head: "UTC", cell: ({ created_at: at }) => <time datetime={at}>{minuteOf(at)}</time> },
    { head: "What", cell: (posting) => <span class="row">{whatOf(posting)}</span> },
    { head: "By", cell: (posting) => <span class="dim">{byOf(posting)}</span>, hide: "medium" },
    { head: "Run or payment", cell: (posting) => proofOf(posting, linksRuns), hide: "small" },
    { head: "Credits", cell: (posting) => <Signed value={effectOf(posting).spendable} />, isNumber: true },
    ...(hasEarned ? [earned] : []),
    ...(asked.isFiltered
      ? []
      : [{ head: "Balance", cell: ({ balance }: Posting) => balance?.toLocaleString("en-US"), isNumber: true }]),
  ];
}

const earned: Column<Posting> = {
  head: "Earned",
  cell: (posting) => <Signed value={effectOf(posting).earned} />,
  isNumber: true,
  hide: "small",
};

/** What it adds, in green, or takes; nothing is said with a dash. */
export function Signed({ value }: { value: number }) {
  if (value === 0) return <span class="faint">{noFigure}</span>;
  return value > 0 ? <span class="up">{signed(value)}</span> : <span>{signed(value)}</span>;
}

/** `+500`, `−12`. */
export function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toLocaleString("en-US")}`;
}

const minuteParts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC" } as const;
const minute = new Intl.DateTimeFormat("en-GB", minuteParts);
const minuteOfYear = new Intl.DateTimeFormat("en-GB", { ...minuteParts, year: "numeric" });

/** `14 Nov 09:30`; of another year than this `14 Nov 2025 09:30`. */
export function minuteOf(at: string, now = new Date()): string {
  const moment = new Date(at);
  const isOfThisYear = moment.getUTCFullYear() === now.getUTCFullYear();
  return (isOfThisYear ? minute : minuteOfYear).format(moment).replace(",", "");
}

function whatOf({ kind, agent, payment, from, note }: Posting): ComponentChildren {
  const of = agent ?? "an agent";
  switch (kind) {
    case "hold":
      return <Agent address={agent} />;
    case "release":
      return (
        <>
          <Agent address={agent} /> <Badge tone="info">given back</Badge>
        </>
      );
    case "capture":
      return (
        <>
          <Agent address={agent} /> <Badge tone="ok">sold</Badge>
        </>
      );
    case "purchase":
      return <>Bought by wallet {payment && <NetworkMark network={payment.network} />}</>;
    case "transfer":
      return "Moved from earned";
    case "grant":
      return <>Granted {note && <span class="dim">{note}</span>}</>;
    case "reward":
      return from === "spendable" ? `Reward paid for ${of}` : `Reward from ${of}`;
    case "model_reserve":
      return `Set aside for the models of ${of}`;
    case "model_return":
      return `Not used by the models of ${of}`;
    case "repayment":
      return "Paid back for models";
    case "fee":
      return "Fee";
  }
}

function Agent({ address }: { address: string | null }) {
  if (address === null) return <>A run</>;
  return (
    <a class="link" href={`/${address}`}>
      {address}
    </a>
  );
}

function byOf({ kind, key, created_at: at }: Posting): string {
  if (kind !== "hold" && kind !== "release") return noFigure;
  return key?.name ?? (mayBeForgotten(at) ? noFigure : "Website");
}

/** Which key asked is known, and a run's page is there, as long as the run is kept. */
const mayBeForgotten = (at: string) => Date.parse(at) < Date.now() - historyDays * 86_400_000;

function proofOf({ run_id: runId, payment, id, created_at: at }: Posting, linksRuns: boolean): ComponentChildren {
  if (payment) {
    const { network, transaction } = payment;
    return <Hash short value={transaction} label="Copy transaction" href={explorerOf(network, transaction)} />;
  }
  const shown = runId ?? id;
  if (runId && linksRuns && !mayBeForgotten(at)) {
    return (
      <a class="link mono" href={`/runs/${runId}`} title={runId}>
        {cut(shown)}
      </a>
    );
  }
  return (
    <span class="mono dim" title={shown}>
      {cut(shown)}
    </span>
  );
}

/** `run_01k8…j1k3`: ids of runs made together begin alike. */
const cut = (id: string) => (id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);
