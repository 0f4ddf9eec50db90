/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../shared/page/badge.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { momentOf, Time } from "../../../shared/page/time.tsx";
import type { Found } from "../../admin/find.ts";
import { networkName } from "../agent/networks.tsx";

type Payment = Found["payments"][number];

const agreements: Readonly<Record<Payment["agreement"], readonly [Tone, string]>> = {
  agree: ["ok", "agree"],
  differ: ["bad", "differ"],
  open: ["maybe", "open"],
  behind: ["warn", "settled, not learned here yet"],
  unheard: ["maybe", "the facilitator did not answer"],
  not_ours: ["info", "of another resource server"],
};

/** What both services know of a payment, side by side. */
export function PaymentCard({ payment, id, sought }: { payment: Payment; id: string; sought: string }) {
  const { marketplace, facilitator, agreement } = payment;
  const [tone, said] = agreements[agreement];
  return (
    <Card
      id={id}
      title={<span class="mono">{shortened(sought)}</span>}
      aside={
        <Badge tone={tone} dot>
          {said}
        </Badge>
      }
    >
      <Unseen payment={payment} />
      <div class="cols cols-2">
        <div class="stack stack-3">
          <h3>Marketplace</h3>
          {marketplace ? <CallSide call={marketplace} /> : <p class="small dim">{absences[agreement] ?? absent}</p>}
        </div>
        <div class="stack stack-3">
          <h3>Facilitator</h3>
          {typeof facilitator === "string" ? (
            <p class="small dim">{silences[facilitator]}</p>
          ) : (
            <RecordSide record={facilitator} />
          )}
        </div>
      </div>
    </Card>
  );
}

const silences = {
  none: "It has no such payment.",
  unheard: "It did not answer. That says nothing of the payment.",
} as const;

/** What is said where the marketplace has no such payment. */
const absences: Partial<Record<Payment["agreement"], string>> = {
  not_ours: "It bought nothing here.",
  unheard:
    "It has none of the last three days by this id. An older one is found by its key, or once the facilitator answers.",
};
const absent =
  "It has no such payment, though the record names a resource of this service: it was never begun here, is lost, or the name is not true. See who was paid.";

function Unseen({ payment: { facilitator } }: { payment: Payment }) {
  if (typeof facilitator === "string" || !["claimed", "broadcast", "unknown"].includes(facilitator.state)) return null;
  const until = momentOf(new Date(facilitator.expires_at));
  return (
    <Callout tone="maybe" title="Its end was not seen yet">
      It can land until {until}. Nothing to do; do not refund now.
    </Callout>
  );
}

function CallSide({ call }: { call: NonNullable<Payment["marketplace"]> }) {
  return (
    <KeyValues
      lines
      entries={[
        ["State", call.state],
        [
          "Sold",
          call.agent ? (
            <a class="link mono" href={`/admin/agents/${call.agent}`}>
              {call.agent}
            </a>
          ) : (
            call.product
          ),
        ],
        ["Version", call.version ?? "–"],
        ["Payer", call.payer ? <Hash short value={call.payer} label="Copy payer" /> : "not known yet"],
        ["Amount", `${call.amount ?? "–"} base units`],
        ["Pay to", call.payTo ? <Hash short value={call.payTo} label="Copy payee" /> : "–"],
        [
          "Transaction",
          call.transaction ? <Hash short value={call.transaction} label="Copy transaction" /> : "none known",
        ],
        ["Quote", call.quoteId ? <Hash short value={call.quoteId} label="Copy quote" /> : "–"],
        ["Run", <code>{call.runId}</code>],
        ["Begun", <Time at={call.createdAt} show="moment" />],
        [
          "Result",
          call.resultAt ? <Time at={call.resultAt} show="moment" /> : call.isLeased ? "being worked on" : "none",
        ],
        ["Delivered", call.deliveredAt ? <Time at={call.deliveredAt} show="moment" /> : "not yet"],
        ...(call.debt === null ? [] : ([["Owed", call.debt]] as const)),
      ]}
    />
  );
}

function RecordSide({ record }: { record: Exclude<Payment["facilitator"], string> }) {
  const tone = { settled: "ok", failed: "bad" }[record.state as string] ?? "maybe";
  return (
    <KeyValues
      lines
      entries={[
        [
          "State",
          <Badge tone={tone as Tone} dot>
            {record.state}
          </Badge>,
        ],
        ["Network", networkName(record.network)],
        [
          "Transaction",
          record.transaction ? (
            <Hash short value={record.transaction} label="Copy transaction" href={record.explorer ?? undefined} />
          ) : (
            "none signed"
          ),
        ],
        ["Payer", <Hash short value={record.payer} label="Copy payer" />],
        ["Pay to", <Hash short value={record.pay_to} label="Copy payee" />],
        ["Amount", `${record.amount_atomic} base units`],
        ["Error", record.error_reason ?? "–"],
        ["Claimed", <Time at={record.created_at} show="moment" />],
        ["Can land until", <Time at={record.expires_at} show="moment" />],
        ["Ended", record.finished_at ? <Time at={record.finished_at} show="moment" /> : "not yet"],
      ]}
    />
  );
}

const shortened = (id: string) => (id.length > 40 ? `${id.slice(0, 20)}…${id.slice(-8)}` : id);
