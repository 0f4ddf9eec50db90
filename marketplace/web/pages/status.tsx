/** @jsxRuntime automatic @jsxImportSource preact */

import type { JobState } from "../../../shared/job-record.ts";
import { networkOf } from "../../../shared/networks.ts";
import { Badge, type Tone } from "../../../shared/page/badge.tsx";
import { GoLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { type Column, Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Config } from "../../config.ts";
import type { FeePayerStatus, NetworkStatus, ServiceStatus, Status } from "../../status/service-status.ts";
import type { Page } from "../page.ts";

interface Needs {
  readonly status: ServiceStatus;
  readonly config: Pick<Config, "facilitatorPublicUrl">;
}

/** How both services are, as this one sees them. */
export function statusPage({ status, config }: Needs): Page {
  return {
    path: "/status",
    scriptBytesMax: 4_096,
    show: async () => {
      const now = await status.read();
      return {
        title: "Status",
        description:
          "Whether runs and payments work right now: database, background jobs, facilitator, networks and fee payers.",
        alternates: [{ type: "application/json", href: "/api/v1/status" }],
        body: <StatusNow now={now} facilitator={config.facilitatorPublicUrl} />,
      };
    },
  };
}

const verdicts: Readonly<Record<Status["status"], { tone: Tone; title: string; said: string }>> = {
  ok: { tone: "ok", title: "Everything works", said: "Runs, payments and every network." },
  degraded: {
    tone: "warn",
    title: "Part of it does not work",
    said: "What is affected is marked below; the rest goes on.",
  },
  down: {
    tone: "bad",
    title: "Nothing can be run or paid for right now",
    said: "A payment that was going on is not lost: it is ended once everything answers again. Do not pay anew.",
  },
};

function StatusNow({ now, facilitator }: { now: Status; facilitator: string }) {
  const { tone, title, said } = verdicts[now.status];
  return (
    <div class="wrap page stack stack-10">
      <div class="page-head">
        <h1>Status</h1>
        <p class="lede">
          Both services as the marketplace sees them, read within the last seconds: <Time at={now.time} show="moment" />
          .
        </p>
      </div>
      <Callout tone={tone} title={title}>
        {said}
      </Callout>
      <section class="stack" aria-labelledby="services">
        <h2 id="services">Services</h2>
        <div class="card">
          <Table label="Services (table)" columns={serviceColumns} rows={servicesOf(now)} />
        </div>
      </section>
      <section class="stack" aria-labelledby="networks">
        <div class="row between">
          <h2 id="networks">Networks</h2>
          <GoLink href={`${facilitator}/status`}>Ninety days of the facilitator</GoLink>
        </div>
        <Networks networks={now.networks} answers={now.facilitator} />
      </section>
      <section class="stack" aria-labelledby="jobs">
        <div class="row between">
          <h2 id="jobs">Background work</h2>
          <a class="link small" href="/api/v1/status">
            As JSON
          </a>
        </div>
        <Disclosure summary={`${now.jobs.length} jobs`} open={now.jobs.some(({ state }) => state !== "ok")}>
          <div class="card">
            <Table label="Background work (table)" columns={jobColumns} rows={now.jobs} />
          </div>
        </Disclosure>
      </section>
    </div>
  );
}

interface Service {
  readonly name: string;
  readonly says: string;
  readonly works: boolean;
}

function servicesOf({ database, facilitator, jobs }: Status): Service[] {
  const behind = jobs.filter(({ state }) => state !== "ok").length;
  return [
    { name: "Database", says: database ? "answers" : "does not answer: nothing is run or charged", works: database },
    {
      name: "Facilitator",
      says: facilitator ? "answers" : "does not answer: payments cannot be taken; runs on credits go on",
      works: facilitator,
    },
    {
      name: "Background work",
      says: behind === 0 ? `${jobs.length} jobs run on time` : `${behind} of ${jobs.length} jobs are late or failing`,
      works: behind === 0,
    },
  ];
}

const serviceColumns: readonly Column<Service>[] = [
  { head: "Service", cell: ({ name }) => name },
  { head: "Says", cell: ({ says }) => <span class="dim">{says}</span> },
  {
    head: "State",
    cell: ({ works }) => <State tone={works ? "ok" : "bad"} word={works ? "working" : "not working"} />,
  },
];

function State({ tone, word }: { tone: Tone; word: string }) {
  return (
    <Badge tone={tone} dot>
      {word}
    </Badge>
  );
}

function Networks({ networks, answers }: { networks: readonly NetworkStatus[]; answers: boolean }) {
  if (networks.length === 0) {
    return (
      <Callout tone="maybe" title={answers ? "The facilitator names no network" : "Not known"}>
        {answers
          ? "Nothing can be paid per call here."
          : "The facilitator does not answer, so nothing is known of its networks."}
      </Callout>
    );
  }
  const rows = networks.flatMap((network) => network.feePayers.map((feePayer) => ({ network, feePayer })));
  return (
    <div class="card">
      <Table label="Networks (table)" columns={networkColumns} rows={rows} />
    </div>
  );
}

interface NetworkRow {
  readonly network: NetworkStatus;
  readonly feePayer: FeePayerStatus;
}

const feePayerStates: Readonly<Record<FeePayerStatus["state"], { tone: Tone; word: string }>> = {
  ok: { tone: "ok", word: "can pay" },
  low: { tone: "warn", word: "low" },
  empty: { tone: "bad", word: "empty" },
  not_read: { tone: "maybe", word: "not read" },
};

const networkColumns: readonly Column<NetworkRow>[] = [
  {
    head: "Network",
    cell: ({ network: { network } }) => (
      <>
        {networkOf(network)?.name ?? network}
        <span class="cell-2 mono">{network}</span>
      </>
    ),
  },
  {
    head: "Payments",
    cell: ({ network: { settling } }) => (
      <State tone={settling ? "ok" : "bad"} word={settling ? "settle" : "do not settle"} />
    ),
  },
  {
    head: "Fee payer",
    hide: "small",
    cell: ({ feePayer: { address } }) => (
      <span class="mono small" title={address}>
        {address.length > 16 ? `${address.slice(0, 8)}…${address.slice(-6)}` : address}
      </span>
    ),
  },
  { head: "Fees", cell: ({ feePayer: { state } }) => <State {...feePayerStates[state]} /> },
  {
    head: "Balance",
    isNumber: true,
    hide: "small",
    cell: ({ feePayer: { balance, unit } }) =>
      balance === null ? "–" : `${balance.toLocaleString("en", { maximumFractionDigits: 4 })} ${unit}`,
  },
];

const jobStates: Readonly<Record<JobState["state"], { tone: Tone; word: string }>> = {
  ok: { tone: "ok", word: "on time" },
  failing: { tone: "bad", word: "failing" },
  late: { tone: "warn", word: "late" },
};

const jobColumns: readonly Column<JobState>[] = [
  { head: "Job", cell: ({ name }) => name.charAt(0).toUpperCase() + name.slice(1) },
  { head: "Last ended", hide: "small", cell: ({ lastEndedAt }) => <Time at={lastEndedAt} show="ago" /> },
  { head: "State", cell: ({ state }) => <State {...jobStates[state]} /> },
];
