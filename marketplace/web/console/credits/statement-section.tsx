/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Select } from "../../../../shared/page/field.tsx";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import type { AccountStatement } from "../../../credits/statement-totals.ts";
import { historyDays } from "../../../history-days.ts";
import { lastMonths, monthName, type StatementAsked } from "./asked.ts";
import { statementColumns } from "./statement-columns.tsx";
import { TotalsLine } from "./totals-line.tsx";

/** Every movement of the account's credits, with what they add up to. */
export function StatementSection({ statement, asked, keys, linksRuns }: StatementProps) {
  const { postings, cursor } = statement;
  const hasEarned = statement.totals.some(({ earned_credits: earned }) => earned !== 0);
  return (
    <section class="stack" aria-labelledby="statement">
      <div class="row between row-4">
        <h2 id="statement">Statement</h2>
        <ButtonLink size="small" icon="download" href={`/api/account/ledger.csv?${asked.parameters}`}>
          CSV
        </ButtonLink>
      </div>
      <Filters asked={asked} keys={keys} />
      <Card id="statement-rows" bare>
        {postings.length === 0 ? (
          <Empty icon="coins" title={asked.isFiltered ? "No posting fits these filters" : "Nothing moved in this time"}>
            {asked.key || asked.about
              ? `Which key and agent a posting is of is known for ${historyDays} days, as its run is.`
              : "Purchases, runs, sales and moves stand here, each with the balance after it."}
          </Empty>
        ) : (
          <Table label="Postings" rows={postings} columns={statementColumns({ hasEarned, linksRuns, asked })} />
        )}
        <div class="card-foot">
          <Pagination
            label="Statement"
            said={<TotalsLine statement={statement} asked={asked} />}
            first={asked.query.cursor ? addressOf(asked) : undefined}
            next={cursor === null ? undefined : addressOf(asked, cursor)}
          />
        </div>
      </Card>
    </section>
  );
}

interface StatementProps {
  readonly statement: AccountStatement;
  readonly asked: StatementAsked;
  readonly keys: ReadonlyArray<{ readonly id: string; readonly name: string }>;
  readonly linksRuns: boolean;
}

const groups = [
  { value: "", label: "All entries" },
  { value: "hold,release", label: "Runs" },
  { value: "purchase", label: "Purchases" },
  { value: "capture", label: "Sales" },
  { value: "transfer", label: "Moves" },
  { value: "grant", label: "Grants" },
  { value: "reward", label: "Rewards" },
  { value: "model_reserve,model_return,repayment", label: "Models" },
] as const;

function Filters({ asked, keys }: Pick<StatementProps, "asked" | "keys">) {
  const months = lastMonths(13);
  const shown = asked.month !== "" && !months.includes(asked.month) ? [...months, asked.month] : months;
  return (
    <form class="row row-3" method="get" action="/settings/credits#statement" aria-label="Filter the statement">
      <Select size="small" name="kind" aria-label="Kind" choices={groups} value={asked.kind} />
      <Select
        size="small"
        name="key"
        aria-label="Key"
        value={asked.key}
        choices={[{ value: "", label: "All keys" }, ...keys.map(({ id, name }) => ({ value: id, label: name }))]}
      />
      <Select
        size="small"
        name="month"
        aria-label="Month"
        value={asked.month === "" ? "all" : asked.month}
        choices={[
          ...shown.map((month) => ({ value: month, label: monthName(month) })),
          { value: "all", label: "All of time" },
        ]}
      />
      <input
        class="input input-sm grow"
        name="about"
        aria-label="Agent or run"
        placeholder="Agent or run"
        maxLength={100}
        value={asked.about}
      />
      <Button size="small">Show</Button>
    </form>
  );
}

function addressOf({ month, kind, key, about }: StatementAsked, cursor?: string): string {
  const query = new URLSearchParams({ month: month === "" ? "all" : month });
  for (const [name, value] of Object.entries({ kind, key, about, cursor })) if (value) query.set(name, value);
  return `/settings/credits?${query}#statement`;
}
