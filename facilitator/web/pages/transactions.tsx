/** @jsxRuntime automatic @jsxImportSource preact */

import { csvOf } from "../../../shared/csv.ts";
import type { Environment } from "../../../shared/networks.ts";
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Choice, SelectField, TextField } from "../../../shared/page/field.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Segments } from "../../../shared/page/tabs.tsx";
import type { Reads } from "../../../shared/reads.ts";
import { ArchiveAwayError } from "../../archive/record-archive.ts";
import { readQuery } from "../../http/query.ts";
import {
  allTransactions,
  readList,
  resourceLengthMax,
  type Transactions,
  type TransactionsNeeds,
  transactions,
  transactionsQuery,
} from "../../transactions.ts";
import { addressOf, rowsAPage } from "../address.ts";
import { inEnv } from "../layout.tsx";
import type { Page, Visit } from "../page.ts";
import { RecordTable } from "../record-table.tsx";
import { networkChoices } from "../words.tsx";

const csvPagesMax = 10;
const csvRowsMax = (csvPagesMax * 100).toLocaleString("en-US");

/** What pages of the public record read from. */
export interface ReadNeeds extends TransactionsNeeds {
  readonly reads: Reads;
}

/** The public record, with its filters in the address. */
export function transactionsPages(context: ReadNeeds, environments: readonly Environment[]): Page[] {
  return [
    {
      path: "/transactions",
      isAlsoJson: true,
      scriptBytesMax: 2_048,
      show: async (visit) => {
        const query = readQuery(transactionsQuery, given(visit, rowsAPage));
        const list = query.status === undefined ? allTransactions : transactions;
        const listed = await readList(context, query, (db) => list({ ...context, db }, query));
        const networks = context.schemes.all.map(({ network }) => network);
        const served = networks.filter((network) => context.config.environmentOf(network) === visit.env);
        return {
          title: "Settlements",
          description: "Every payment that was settled, failed or was refused here, newest first.",
          section: "/transactions",
          body: (
            <Listed
              visit={visit}
              listed={listed}
              networks={served}
              to={(path) => inEnv(path, visit.env, environments)}
            />
          ),
        };
      },
    },
    {
      path: "/transactions.csv",
      scriptBytesMax: 2_048,
      show: (visit) => {
        const query = readQuery(transactionsQuery, given(visit, 100));
        return readList(context, query, (db) => asCsv({ ...context, db }, visit));
      },
    },
  ];
}

/** The environment and the state have links of their own; the rest is asked for by a form. */
const linked = ["env", "status"] as const;
const fields = ["network", "payer", "pay_to", "resource", "since", "until", "self"] as const;
const filters = [...linked, ...fields];

function given({ query, env }: Visit, limit: number): Record<string, string> {
  const asked = Object.fromEntries([...filters, "cursor"].map((name) => [name, query.get(name) ?? ""]));
  return { ...asked, env, limit: query.get("limit") ?? String(limit) };
}

/** The address of this page with some filters changed, from the first row on. */
function changed(visit: Visit, changes: Readonly<Record<string, string | undefined>>): string {
  return addressOf(visit, filters, changes);
}

interface ListedProps {
  readonly visit: Visit;
  readonly listed: Transactions;
  readonly networks: readonly string[];
  readonly to: (path: string) => string;
}

function Listed({ visit, listed, networks, to }: ListedProps) {
  const { query } = visit;
  const rows = listed.transactions;
  const first = query.has("cursor") ? changed(visit, {}) : undefined;
  const csv = changed({ ...visit, path: "/transactions.csv" }, {});
  return (
    <div class="wrap page stack stack-6">
      <div class="row between row-4">
        <div class="grow">
          <h1>Settlements</h1>
          <p class="dim small">
            Every payment that was settled, failed or was refused here or has not ended yet, newest first. The CSV has
            the newest {csvRowsMax} that have ended; where older ones fit, too, its name says since when it has all.
          </p>
        </div>
        <ButtonLink href={csv} icon="download">
          CSV
        </ButtonLink>
      </div>
      <Filters visit={visit} networks={networks} />
      <Card
        id="record"
        title="Public record"
        aside={<States visit={visit} />}
        bare
        foot={
          <Pagination
            label="Settlements"
            first={first}
            next={listed.cursor === null ? undefined : changed(visit, { cursor: listed.cursor })}
            said="A page keeps its rows: newer payments come before it."
          />
        }
      >
        {rows.length > 0 ? (
          <RecordTable label="Table of payments" rows={rows} to={to} />
        ) : (
          <NoRows visit={visit} hasMore={listed.cursor !== null} to={to} />
        )}
        {listed.notice !== null && <p class="small dim">{listed.notice}</p>}
      </Card>
      <p class="small faint measure">
        Self-payments are those of payers who only ever paid one payee that paid them back, or that shares their
        funding.{" "}
        <a class="link" href={to("/#rule")}>
          The rule in SQL
        </a>
        . Refused payments name a payer that was not checked.
      </p>
    </div>
  );
}

function NoRows({ visit, hasMore, to }: Pick<ListedProps, "visit" | "to"> & { hasMore: boolean }) {
  const isNarrowed = ["status", "cursor", ...fields].some((name) => visit.query.get(name));
  if (!isNarrowed && !hasMore) {
    return (
      <Empty icon="activity" title="Nothing yet">
        Here would be every payment that was settled, failed or was refused.
      </Empty>
    );
  }
  return (
    <Empty
      icon="search"
      title={hasMore ? "None of the newest fits" : "No payment fits"}
      action={<ButtonLink href={to("/transactions")}>Without filters</ButtonLink>}
    >
      {hasMore
        ? "A page looks at some thousand payments at most: the next one goes on from there."
        : "Here would be every payment that fits the filters."}
    </Empty>
  );
}

function States({ visit }: { visit: Visit }) {
  const asked = visit.query.get("status") ?? "";
  const tabs = [
    { value: "", label: "All" },
    { value: "settled", label: "Settled" },
    { value: "in_progress", label: "In progress" },
    { value: "unknown", label: "Unknown" },
    { value: "failed", label: "Failed" },
    { value: "rejected", label: "Rejected" },
  ].map(({ value, label }) => ({
    href: changed(visit, { status: value || undefined }),
    label,
    isCurrent: value === asked,
  }));
  return <Segments label="State" tabs={tabs} />;
}

function Filters({ visit: { query }, networks }: { visit: Visit; networks: readonly string[] }) {
  const kept = linked.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""] as const] : []));
  const isFiltered = fields.some((name) => query.get(name));
  return (
    <search class="open-wide">
      <Disclosure summary="Filter by payer, payee, resource, network or day" open={isFiltered}>
        <form class="stack stack-3" action="/transactions">
          {kept.map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <div class="cols cols-3">
            <Text name="payer" label="Payer" value={query.get("payer")} />
            <Text name="pay_to" label="Paid to" value={query.get("pay_to")} />
            <Text name="resource" label="Resource URL" value={query.get("resource")} lengthMax={resourceLengthMax} />
          </div>
          <div class="cols cols-3">
            <SelectField
              id="f-network"
              name="network"
              label="Network"
              {...networkChoices(networks, query.get("network") ?? "")}
            />
            <Day name="since" label="From day" value={query.get("since")} />
            <Day name="until" label="To day" value={query.get("until")} />
          </div>
          <div class="row row-3 between">
            <Choice name="self" value="hide" checked={query.get("self") === "hide"} label="Without self-payments" />
            <Button icon="search">Filter</Button>
          </div>
        </form>
      </Disclosure>
    </search>
  );
}

function Day({ name, label, value }: { name: string; label: string; value: string | null }) {
  return <TextField id={`f-${name}`} name={name} label={label} type="date" value={value?.slice(0, 10) ?? ""} />;
}

interface TextProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | null;
  readonly lengthMax?: number;
}

function Text({ name, label, value, lengthMax = 100 }: TextProps) {
  return (
    <TextField
      id={`f-${name}`}
      name={name}
      label={label}
      mono
      value={value ?? ""}
      maxLength={lengthMax}
      spellcheck={false}
      autocomplete="off"
    />
  );
}

const columns = [
  "created_at",
  "status",
  "network",
  "amount_atomic",
  "asset",
  "payer",
  "pay_to",
  "resource_url",
  "tx_id",
  "error_reason",
  "total_ms",
] as const;

/** Up to a thousand rows from the cursor on. Its name says where newer or older ones are missing, and a Link header leads to the next. */
async function asCsv(context: TransactionsNeeds, visit: Visit) {
  const { rows, cursor, isWhole } = await csvRows(context, visit);
  const content = csvOf(
    columns,
    rows.map((row) => columns.map((name) => (row[name] === null ? null : String(row[name])))),
  );
  const next = cursor === null ? {} : { link: `<${changed(visit, { cursor })}>; rel="next"` };
  const headers = {
    "content-disposition": `attachment; filename="${nameOf(visit, cursor, isWhole)}.csv"`,
    "cache-control": "no-store",
    ...next,
  };
  return { type: "text/csv; charset=utf-8", content, headers };
}

function nameOf({ query }: Visit, cursor: string | null, isWhole: boolean): string {
  if (query.get("cursor") !== null) return "settlements-part";
  if (isWhole) return "settlements";
  return cursor === null ? "settlements-part" : `settlements-since-${sinceOf(cursor)}`;
}

interface CsvRows {
  readonly rows: Transactions["transactions"];
  readonly cursor: string | null;
  /** There are no older ones. */
  readonly isWhole: boolean;
}

async function csvRows(context: TransactionsNeeds, visit: Visit): Promise<CsvRows> {
  const query = readQuery(transactionsQuery, given(visit, 100));
  const rows: Transactions["transactions"] = [];
  let cursor: string | null = visit.query.get("cursor");
  for (let page = 0; page < csvPagesMax && (page === 0 || cursor !== null); page += 1) {
    const asked = { ...query, limit: 100, cursor: cursor === null ? undefined : placeIn(cursor) };
    const listed: Transactions | undefined = await transactions(context, asked).catch((error: unknown) => {
      // What was read before is there to be had; where it ends, the next file is refused.
      if (error instanceof ArchiveAwayError && page > 0) return undefined;
      throw error;
    });
    if (!listed) break;
    rows.push(...listed.transactions);
    cursor = listed.cursor;
    // Archived records are read a few objects a request.
    if (listed.notice !== null) return { rows, cursor, isWhole: false };
  }
  return { rows, cursor, isWhole: cursor === null };
}

const placeIn = (cursor: string) => readQuery(transactionsQuery, { cursor }).cursor;

/** `2026-11-20T101500Z`: from then on a file that ends at the cursor has all that fits. */
function sinceOf(cursor: string): string {
  const seconds = Math.ceil(Number(placeIn(cursor)?.createdMicros ?? 0n) / 1_000_000);
  return new Date(seconds * 1_000).toISOString().replace(".000", "").replaceAll(":", "");
}
