/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../shared/page/badge.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Found } from "../../admin/find.ts";
import type { Refusal } from "../console/refusal.ts";
import { creditsOf } from "../money.tsx";
import { AccountLink } from "./account-link.tsx";
import { PaymentCard } from "./found-payment.tsx";
import { RunCard } from "./found-run.tsx";
import { StateBadge } from "./list-page.tsx";

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
