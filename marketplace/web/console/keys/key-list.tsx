/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { type Column, Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import { keysPerAccount } from "../../../api-keys/create.ts";
import type { KeySpending, ListedKey } from "../../../api-keys/list.ts";
import type { KeyId } from "../../../ids.ts";
import { creditsOf } from "../../money.tsx";

export interface KeyListProps {
  readonly keys: readonly ListedKey[];
  readonly spending: ReadonlyMap<KeyId, KeySpending>;
  readonly isNew?: KeyId;
}

/** The slots, in use and free, and the keys that were revoked. */
export function KeyList({ keys, spending, isNew }: KeyListProps) {
  const all = keys.filter((key) => key.revoked_at === null);
  const active = all.filter((key) => key.client === null);
  const clients = all.filter((key) => key.client !== null);
  const revoked = keys.filter((key) => key.revoked_at !== null);
  const free = keysPerAccount - active.length;
  return (
    <>
      <section class="stack" aria-labelledby="slots">
        <div class="row between">
          <h2 id="slots">Active keys</h2>
          <span class="small faint num">
            {active.length} of {keysPerAccount} in use
          </span>
        </div>
        {active.length === 0 ? (
          <NoKey />
        ) : (
          <ul class="card">
            {active.map((key) => (
              <Slot listed={key} spent={spending.get(key.id)} isNew={key.id === isNew} />
            ))}
            {free > 0 && (
              <li class="key-slot slot-free">
                <span>{free === 1 ? "One free slot" : `${free} free slots`}</span>
                <ButtonLink class="push" size="small" href="/settings/keys/new">
                  Create key
                </ButtonLink>
              </li>
            )}
          </ul>
        )}
      </section>
      {clients.length > 0 && (
        <section class="stack" aria-labelledby="clients">
          <h2 id="clients">Clients that you allowed</h2>
          <ul class="card">
            {clients.map((key) => (
              <Slot listed={key} spent={spending.get(key.id)} isNew={key.id === isNew} />
            ))}
          </ul>
        </section>
      )}
      {revoked.length > 0 && (
        <Disclosure summary={revoked.length === 1 ? "1 revoked key" : `${revoked.length} revoked keys`}>
          <div class="card">
            <Table label="Revoked keys" columns={revokedColumns} rows={revoked} />
          </div>
        </Disclosure>
      )}
    </>
  );
}

function NoKey() {
  return (
    <div class="card">
      <Empty
        icon="key"
        title="No key yet"
        action={
          <ButtonLink look="primary" icon="plus" href="/settings/keys/new">
            Create key
          </ButtonLink>
        }
      >
        With a key your programs and MCP clients run agents on this account’s credits, within the caps that you set.
      </Empty>
    </div>
  );
}

function Slot({ listed, spent, isNew }: { listed: ListedKey; spent: KeySpending | undefined; isNew: boolean }) {
  const { id, name, rate_limit_per_minute: rate } = listed;
  return (
    <li class="key-slot">
      <div>
        <h3>
          {name}
          {isNew && <Badge tone="info">New</Badge>}
        </h3>
        <p class="key-meta">
          <code>{maskOf(listed)}</code>
          <span>{scopeOf(listed)}</span>
          <span>{figures(rate)} a minute</span>
          <LastUsed listed={listed} />
        </p>
      </div>
      <Spent listed={listed} spent={spent} />
      <div class="row row-tight">
        <ButtonLink
          size="small"
          look="ghost"
          href={`/settings/keys/${id}`}
          aria-label={`Calls and settings of ${name}`}
        >
          Open
        </ButtonLink>
        <ButtonLink
          size="small"
          look="ghost"
          class="btn-danger"
          href={`/settings/keys/${id}/revoke`}
          aria-label={`Revoke ${name}`}
        >
          Revoke
        </ButtonLink>
      </div>
    </li>
  );
}

export function maskOf({ start, last4, client }: ListedKey): string {
  if (client !== null) return client.length > 40 ? `${client.slice(0, 40)}…` : client;
  return `${start}…${last4}`;
}

export function scopeOf({ scope, agents, client }: ListedKey): string {
  if (scope === "own_agents") return "own agents";
  if (scope === "rest_only") return client === null ? "REST only" : "drawings only";
  return agents.length === 1 ? "1 chosen agent" : `${agents.length} chosen agents`;
}

/** When, by what, and roughly from where. */
export function LastUsed({ listed }: { listed: ListedKey }) {
  const { last_used_at: at, last_used_from: from, last_used_by: by } = listed;
  if (!at) return <span>not used yet</span>;
  return (
    <span>
      used <Time at={at} show="ago" />
      {by && ` by ${by}`}
      {from && ` from ${from}`}
    </span>
  );
}

/** What it spent today, and this month where a cap is on it. */
export function Spent({ listed, spent }: { listed: ListedKey; spent: KeySpending | undefined }) {
  const { name, max_credits_per_day: day, max_credits_per_month: month } = listed;
  const today = spent?.today ?? 0n;
  return (
    <div class="key-cap">
      <span>{day === null ? "No daily cap" : "Today"}</span>
      <span>{day === null ? `${creditsOf(today)} today` : `${figures(today)} of ${creditsOf(day)}`}</span>
      {day !== null && <Meter value={today} max={day} label={`Spent today of the daily cap of ${name}`} />}
      {month !== null && (
        <>
          <span>This month</span>
          <span>
            {figures(spent?.month ?? 0n)} of {creditsOf(month)}
          </span>
          <Meter value={spent?.month ?? 0n} max={month} label={`Spent this month of the monthly cap of ${name}`} />
        </>
      )}
    </div>
  );
}

function Meter({ value, max, label }: { value: bigint; max: bigint; label: string }) {
  const share = max === 0n ? 1 : Number(value) / Number(max);
  const tone = share >= 1 ? " meter-bad" : share >= 0.8 ? " meter-warn" : "";
  return <progress class={`meter${tone}`} max={1} value={Math.min(1, share)} aria-label={label} />;
}

const revokedColumns: ReadonlyArray<Column<ListedKey>> = [
  { head: "Name", cell: ({ name }) => name },
  { head: "Key", cell: (key) => <code>{maskOf(key)}</code> },
  {
    head: "Revoked",
    hide: "small",
    cell: ({ revoked_at: at }) => <span class="dim">{at && <Time at={at} />}</span>,
  },
  {
    head: "Calls",
    cell: ({ id, name }) => (
      <a class="link" href={`/settings/keys/${id}`} aria-label={`Calls of ${name}`}>
        calls
      </a>
    ),
  },
];
