/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../shared/page/badge.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { facilitatorSubject } from "../../heartbeats.ts";
import type { Outage } from "../../status.ts";
import { networkName } from "../words.tsx";

const toldMax = 6;

/** The outages, and their effect on payments. */
export function Incidents({ outages, inAll }: { outages: readonly Outage[]; inAll: number }) {
  const earlier = outages.slice(toldMax);
  return (
    <Card
      id="outages"
      title="Incidents"
      aside={
        <span class="small faint">
          from the heartbeats, to the minute: what lasts, then the newest
          {inAll > outages.length && `, ${outages.length} of ${figures(inAll)}`}
        </span>
      }
    >
      {outages.length === 0 ? (
        <p class="small dim">None in these days.</p>
      ) : (
        <div class="stack stack-6">
          {outages.slice(0, toldMax).map((outage, at) => (
            <>
              {at > 0 && <hr />}
              <Incident outage={outage} />
            </>
          ))}
          {earlier.length > 0 && (
            <Disclosure summary={`${earlier.length} earlier`}>
              <Table
                label="Table of earlier incidents"
                rows={earlier}
                columns={[
                  { head: "What", cell: (outage) => titleOf(outage) },
                  { head: "From", cell: (outage) => <From outage={outage} /> },
                  { head: "Took", isNumber: true, cell: (outage) => tookOf(outage) },
                ]}
              />
            </Disclosure>
          )}
        </div>
      )}
    </Card>
  );
}

function Incident({ outage }: { outage: Outage }) {
  const { to } = outage;
  return (
    <article class="stack stack-2">
      <div class="row row-3 between">
        <span class="row row-3">
          <Badge tone={to ? "ok" : "bad"} dot>
            {to ? "ended" : "lasts"}
          </Badge>
          <h3>{titleOf(outage)}</h3>
        </span>
        <span class="small faint num">
          <From outage={outage} />, {tookOf(outage)}
        </span>
      </div>
      <p class="small dim measure">{meaningOf(outage)}</p>
    </article>
  );
}

/** Nothing before the window is looked through. */
function From({ outage: { from, isFromBefore } }: { outage: Outage }) {
  return (
    <>
      {isFromBefore && "before "}
      <Time at={from} show="moment" />
    </>
  );
}

function titleOf({ subject, causes, to }: Outage): string {
  if (subject === facilitatorSubject) return to ? "The facilitator was down" : "The facilitator is down";
  const name = networkName(subject);
  if (causes.length !== 1) return to ? `${name} did not settle` : `${name} does not settle`;
  if (causes[0] === "away") return to ? `${name} did not answer` : `${name} does not answer`;
  return to ? `${name}’s fee payers had no money` : `${name}’s fee payers have no money`;
}

function meaningOf({ subject, causes }: Outage): string {
  if (subject === facilitatorSubject) {
    return "No copy of it was up, so nothing was accepted. The next copy asked the chains what became of payments that were under way.";
  }
  const refused = "New payments on it were answered 503 and no money moved; other networks went on.";
  if (causes.length === 0) return refused;
  const why = causes.map((cause) =>
    cause === "away"
      ? "The chain could not be asked."
      : "Every fee payer was below the line under which nothing is settled.",
  );
  const sent = causes.includes("away") ? " Payments already sent stayed unknown until it could be asked again." : "";
  return `${why.join(" ")} ${refused}${sent}`;
}

function tookOf({ from, isFromBefore, to }: Outage): string {
  const minutes = Math.max(1, Math.round(((to ?? new Date()).getTime() - from.getTime()) / 60_000));
  const took = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return isFromBefore ? `over ${took}` : took;
}
