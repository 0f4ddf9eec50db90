/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../shared/page/badge.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { figures, noFigure } from "../../../shared/page/figures.ts";
import { Table } from "../../../shared/page/table.tsx";
import type { FeePayerHealth } from "../../fee-payers-health.ts";
import { NetworkMark } from "../words.tsx";

const soonDays = 7;
const runwayShown = 60;

export function needsMoneySoon({ runwayDays, low }: FeePayerHealth): boolean {
  return low || (runwayDays !== undefined && runwayDays < soonDays);
}

/** The fee payers, and how long their balances last. */
export function FeePayers({ feePayers }: { feePayers: readonly FeePayerHealth[] }) {
  if (feePayers.length === 0) return null;
  return (
    <Card
      id="fee-payers"
      title="Fee payers"
      aside={<span class="small faint">Runway: balance over the mean spend of the past seven days</span>}
      bare
      isLater
    >
      <Table
        label="Table of fee payers"
        tall
        rows={feePayers}
        columns={[
          { head: "Network", cell: ({ network }) => <NetworkMark network={network} /> },
          {
            head: "Account",
            hide: "small",
            cell: ({ feePayer }) => <Hash short value={feePayer} label={`Copy fee payer ${feePayer}`} />,
          },
          {
            head: "Balance",
            isNumber: true,
            hide: "small",
            cell: (payer) => <InUnit amount={payer.balance} unit={payer.unit} />,
          },
          {
            head: "Spent a day",
            isNumber: true,
            hide: "medium",
            cell: (payer) => <InUnit amount={payer.spentPerDay} unit={payer.unit} />,
          },
          { head: "Runway", cell: (payer) => <Runway payer={payer} /> },
          { head: "State", cell: (payer) => <State payer={payer} /> },
        ]}
      />
    </Card>
  );
}

function InUnit({ amount, unit }: { amount: string | undefined; unit: string }) {
  if (amount === undefined) return <>{noFigure}</>;
  return (
    <>
      {cut(amount)} <span class="faint">{unit}</span>
    </>
  );
}

/** Five digits that count: `0.018234` → `0.01823`, `1284.604` → `1,284.6`. */
function cut(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const leadingZeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const digits = whole === "0" ? leadingZeros + 4 : Math.max(0, 5 - whole.length);
  const kept = fraction.slice(0, digits).replace(/0+$/, "");
  const grouped = figures(BigInt(whole));
  return kept === "" ? grouped : `${grouped}.${kept}`;
}

function Runway({ payer }: { payer: FeePayerHealth }) {
  const { runwayDays: days } = payer;
  if (days === undefined)
    return <span class="dim">{payer.balance === undefined ? noFigure : "nothing spent yet"}</span>;
  const words = days >= 365 ? "over a year" : `${Math.floor(days)} ${Math.floor(days) === 1 ? "day" : "days"}`;
  const look = payer.empty ? "bad" : needsMoneySoon(payer) ? "warn" : "ok";
  return (
    <span class="runway">
      <span class="num">{words}</span>
      <progress
        class={`meter meter-${look}`}
        max={runwayShown}
        value={Math.min(days, runwayShown)}
        aria-label={`Runway: ${words}`}
      />
    </span>
  );
}

function State({ payer }: { payer: FeePayerHealth }) {
  if (payer.balance === undefined)
    return (
      <Badge tone="maybe" dot>
        not readable
      </Badge>
    );
  if (payer.empty)
    return (
      <Badge tone="bad" dot>
        empty
      </Badge>
    );
  if (payer.feesTooHigh)
    return (
      <Badge tone="warn" dot>
        fees too high
      </Badge>
    );
  if (payer.low)
    return (
      <Badge tone="warn" dot>
        low
      </Badge>
    );
  if (needsMoneySoon(payer))
    return (
      <Badge tone="warn" dot>
        low soon
      </Badge>
    );
  return (
    <Badge tone="ok" dot>
      can pay
    </Badge>
  );
}
