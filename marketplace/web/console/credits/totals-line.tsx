/** @jsxRuntime automatic @jsxImportSource preact */
import type { AccountStatement } from "../../../credits/statement-totals.ts";
import { monthName, type StatementAsked } from "./asked.ts";
import { signed } from "./statement-columns.tsx";

const groups = [
  ["granted", ["grant"]],
  ["bought", ["purchase"]],
  ["sold", ["capture"]],
  ["moved", ["transfer"]],
  ["runs", ["hold", "release"]],
  ["rewards", ["reward"]],
  ["models", ["model_reserve", "model_return", "repayment", "fee"]],
] as const;

/** The period's opening balance, its movements by kind, its closing balance: the figures add up. */
export function TotalsLine({ statement, asked }: { statement: AccountStatement; asked: StatementAsked }) {
  const { opening, closing, totals } = statement;
  const when = asked.month === "" ? "All of time" : monthName(asked.month);
  const count = totals.reduce((sum, { postings }) => sum + postings, 0);
  const earns = totals.some(({ earned_credits: earned }) => earned !== 0);
  if (asked.isFiltered) {
    return (
      <>
        {when}, selected: {count.toLocaleString("en-US")} {count === 1 ? "posting" : "postings"}
        <Moves totals={totals} of="credits" />
        {earns && (
          <>
            <br />
            Earned
            <Moves totals={totals} of="earned_credits" />
          </>
        )}
      </>
    );
  }
  return (
    <>
      {when}: opened with <Figure value={opening.credits} />
      <Moves totals={totals} of="credits" />, ends with <Figure value={closing.credits} />
      {(earns || opening.earned_credits !== 0) && (
        <>
          <br />
          Earned: opened with <Figure value={opening.earned_credits} />
          <Moves totals={totals} of="earned_credits" />, ends with <Figure value={closing.earned_credits} />
        </>
      )}
    </>
  );
}

function Figure({ value }: { value: number }) {
  return <b class="strong">{value.toLocaleString("en-US")}</b>;
}

function Moves({ totals, of }: { totals: AccountStatement["totals"]; of: "credits" | "earned_credits" }) {
  return (
    <>
      {groups.map(([name, kinds]) => {
        const sum = totals
          .filter(({ kind }) => (kinds as readonly string[]).includes(kind))
          .reduce((all, total) => all + total[of], 0);
        return (
          sum !== 0 && (
            <>
              , {name} <b class="strong">{signed(sum)}</b>
            </>
          )
        );
      })}
    </>
  );
}
