/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import { creditsOf } from "../../../shared/page/money.tsx";
import { KeyValues, Table } from "../../../shared/page/table.tsx";
import { momentOf, Time } from "../../../shared/page/time.tsx";
import type { Found } from "../../admin/find.ts";
import { networkName } from "../agent/networks.tsx";
import type { Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import { StateBadge } from "./list-page.tsx";

type Payment = Found["payments"][number];
type Run = Found["runs"][number];

/** All that was found by an id, each in a card of its own. */
export function FoundThings({ found, id, refusal }: { found: Found; id: string; refusal: Refusal | undefined }) {
  return (
    <>
      {found.payments.map((payment, index) => (
        <PaymentCard payment={payment} id={`payment-${index}`} sought={id} />
      ))}
      {found.runs.map((run) => (
        <RunCard run={run} sought={id} refusal={refusal} />
      ))}
      {found.agents.map((agent) => (
        <AgentCard agent={agent} />
      ))}
      {found.keys.map((key) => (
        <KeyCard apiKey={key} />
      ))}
      {found.accounts.map((account) => (
        <AccountCard account={account} />
      ))}
      {found.failures.map((failure, index) => (
        <FailureCard failure={failure} id={`failure-${index}`} />
      ))}
    </>
  );
}

function AgentCard({ agent: { agent, state, live_version, created_at, id } }: { agent: Found["agents"][number] }) {
  return (
    <Card id={id} title={<span class="mono">{agent}</span>} aside={<StateBadge state={state} />}>
      <KeyValues
        lines
        entries={[
          ["Id", <code>{id}</code>],
          ["Live version", live_version ?? "–"],
          ["Since", <Time at={created_at} />],
          [
            "Act",
            <a class="link" href={`/admin/agents/${agent}`}>
              Suspend or restore
            </a>,
          ],
        ]}
      />
    </Card>
  );
}

function KeyCard({ apiKey: { id, name, start, scope, revoked, account } }: { apiKey: Found["keys"][number] }) {
  return (
    <Card
      id={id}
      title={name}
      aside={
        <Badge tone={revoked ? "bad" : "ok"} dot>
          {revoked ? "revoked" : "active"}
        </Badge>
      }
    >
      <KeyValues
        lines
        entries={[
          ["Key", <code>{start}…</code>],
          ["Scope", scope.replaceAll("_", " ")],
          ["Account", <AccountLink handle={account} />],
        ]}
      />
    </Card>
  );
}

function AccountCard({ account }: { account: Found["accounts"][number] }) {
  const { id, handle, state, email, credits, created_at } = account;
  return (
    <Card id={id} title={<span class="mono">{handle}</span>} aside={<StateBadge state={state} />}>
      <KeyValues
        lines
        entries={[
          ["Id", <code>{id}</code>],
          ["E-mail", email ?? "–"],
          ["Spendable", creditsOf(credits)],
          ["Since", <Time at={created_at} />],
          ["Act", <AccountLink handle={handle} label="Grant, suspend or restore" />],
        ]}
      />
    </Card>
  );
}

function FailureCard({ failure, id }: { failure: Found["failures"][number]; id: string }) {
  const { request_id: request, at, method, path, status, kind, place } = failure;
  return (
    <Card
      id={id}
      title={`Request that failed, ${status}`}
      foot="The log has what the error said, under the same id (requestId)."
    >
      <KeyValues
        lines
        entries={[
          ["Id", <code>{request}</code>],
          ["When", <Time at={at} show="moment" />],
          ["Asked", <code>{`${method} ${path}`}</code>],
          ["Error", <code>{kind}</code>],
          ["In", place ? <code>{place}</code> : "–"],
        ]}
      />
    </Card>
  );
}

function AccountLink({ handle, label = handle }: { handle: string; label?: string }) {
  return (
    <a class="link" href={`/admin/accounts/${handle}`}>
      {label}
    </a>
  );
}

const agreements: Readonly<Record<Payment["agreement"], readonly [Tone, string]>> = {
  agree: ["ok", "agree"],
  differ: ["bad", "differ"],
  open: ["maybe", "open"],
  behind: ["warn", "settled, not learned here yet"],
  unheard: ["maybe", "the facilitator did not answer"],
  not_ours: ["info", "of another resource server"],
};

function PaymentCard({ payment, id, sought }: { payment: Payment; id: string; sought: string }) {
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
          {marketplace ? <CallSide call={marketplace} /> : <p class="small dim">It bought nothing here.</p>}
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

const runTones: Readonly<Record<Run["state"], Tone>> = { running: "info", succeeded: "ok", failed: "bad", lost: "bad" };

function RunCard({ run, sought, refusal }: { run: Run; sought: string; refusal: Refusal | undefined }) {
  const mine = refusal?.value("run") === run.run_id ? refusal : undefined;
  return (
    <Card
      id={run.run_id}
      title={<span class="mono">{run.run_id}</span>}
      aside={
        <Badge tone={runTones[run.state]} dot>
          {run.state}
        </Badge>
      }
    >
      <KeyValues
        lines
        entries={[
          [
            "Agent",
            <>
              <a class="link mono" href={`/admin/agents/${run.agent}`}>
                {run.agent}
              </a>{" "}
              version {run.agent_version}
            </>,
          ],
          ["Buyer", run.buyer ? <AccountLink handle={run.buyer} /> : "wallet, no account"],
          ["Key", run.key_id ? <code>{run.key_id}</code> : "none: signed in, or a wallet"],
          ["Price", creditsOf(run.price_credits)],
          ["Begun", <Time at={run.created_at} show="moment" />],
          ["Ended", run.finished_at ? <Time at={run.finished_at} show="moment" /> : "not yet"],
          ...(run.error === null ? [] : ([["Said", run.error]] as const)),
        ]}
      />
      {run.postings.length > 0 && (
        <Table
          label="Credits posted"
          rows={run.postings}
          columns={[
            { head: "Posting", cell: ({ id }) => <code>{id}</code> },
            { head: "Kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
            { head: "Credits", isNumber: true, cell: ({ credits }) => credits },
          ]}
        />
      )}
      {run.input_kept ? (
        <ReadInputForm run={run} sought={sought} refusal={mine} />
      ) : (
        <p class="small dim">Its input was not kept.</p>
      )}
    </Card>
  );
}

/** Asks for the reason to read a run's input, which the audit log keeps. */
function ReadInputForm({ run, sought, refusal }: { run: Run; sought: string; refusal: Refusal | undefined }) {
  return (
    <form class="stack" method="post" action={`/admin?id=${encodeURIComponent(sought)}`} data-busy="Reading">
      <input type="hidden" name="act" value="read_input" />
      <input type="hidden" name="run" value={run.run_id} />
      <RefusedNote refusal={refusal} fields={["note"]} />
      <TextField
        id={`${run.run_id}-note`}
        name="note"
        label="Why its input must be read"
        help="For operators alone. The buyer sees that it was read."
        maxLength={2_000}
        required
        value={refusal?.value("note")}
        error={refusal?.at("note")}
      />
      <div class="row">
        <Button>Read the input</Button>
      </div>
    </form>
  );
}

const shortened = (id: string) => (id.length > 40 ? `${id.slice(0, 20)}…${id.slice(-8)}` : id);
