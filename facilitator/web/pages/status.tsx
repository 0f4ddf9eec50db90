/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Code } from "../../../shared/page/code.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration, figures, noFigure } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { Segments } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { feePayersHealth } from "../../fee-payers-health.ts";
import { facilitatorSubject } from "../../heartbeats.ts";
import { ReadCache } from "../../schemes/read-cache.ts";
import { type Status, type StatusNeeds, type SubjectStatus, status } from "../../status.ts";
import { inEnv } from "../layout.tsx";
import { FeePayers } from "../overview/fee-payers.tsx";
import type { Page, Visit } from "../page.ts";
import { badgeSvg } from "../status/badge.ts";
import { Incidents } from "../status/incidents.tsx";
import { Uptime } from "../status/uptime.tsx";
import { count, networkName } from "../words.tsx";

/** Heartbeats come every fifteen seconds, and the minutes of `statusDays` are many. */
const keptMs = 2_000;
const readsKept = 10;
const statusDays = 90;
const windowDays = [statusDays, 30, 7];

type Needs = StatusNeeds & Parameters<typeof feePayersHealth>[0];

/** How this service was up, from the heartbeats of its copies; `/health` shows it with the fee payers to requests for HTML. */
export function statusPages(context: Needs, environments: readonly Environment[]): Page[] {
  const reads = new ReadCache(readsKept);
  const statusOf = (env: Environment, days: number) =>
    reads.read(`${env} ${days}`, keptMs, () => status(context, { env, days }));
  const show = (withFeePayers: boolean) => async (visit: Visit) => {
    const days = windowDays.find((one) => String(one) === visit.query.get("days")) ?? statusDays;
    const [seen, feePayers] = await Promise.all([
      statusOf(visit.env, days),
      withFeePayers ? feePayersHealth(context, visit.env) : [],
    ]);
    return {
      title: "Status",
      description: `How this facilitator and its networks were up on the past ${statusDays} days.`,
      section: "/status",
      body: <StatusBody {...{ seen, days, visit, feePayers, environments }} />,
    };
  };
  return [
    { path: "/status", scriptBytesMax: 2_048, show: show(false) },
    { path: "/health", isAlsoJson: true, scriptBytesMax: 2_048, show: show(true) },
    {
      path: "/status.svg",
      scriptBytesMax: 2_048,
      show: async ({ env }) => {
        const { subjects, copies } = await statusOf(env, statusDays);
        // Meant for others' pages.
        const headers = { "cache-control": "public, max-age=300", "cross-origin-resource-policy": "cross-origin" };
        const content = badgeSvg(copies > 0, subjects[0]?.available, statusDays);
        return { type: "image/svg+xml", content, headers };
      },
    },
  ];
}

/** `99.98 %`: cut, so that only all is 100. */
function availability(share: number | undefined): string {
  if (share === undefined) return noFigure;
  return share === 1 ? "100 %" : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;
}

interface BodyProps {
  readonly seen: Status;
  readonly days: number;
  readonly visit: Visit;
  readonly feePayers: Awaited<ReturnType<typeof feePayersHealth>>;
  readonly environments: readonly Environment[];
}

function StatusBody({ seen, days, visit, feePayers, environments }: BodyProps) {
  return (
    <div class="wrap page stack stack-8">
      <StatusHead {...{ seen, days, visit, environments }} />
      <FeePayers feePayers={feePayers} />
      <Days seen={seen} days={days} />
      <StatusFigures seen={seen} days={days} />
      <Incidents outages={seen.outages} inAll={seen.outagesInAll} />
      <EmbeddedBadge visit={visit} environments={environments} />
    </div>
  );
}

/** Whether all networks settle now, and the windows to choose from. */
function StatusHead({ seen, days, visit, environments }: Omit<BodyProps, "feePayers">) {
  const isUp = seen.copies > 0;
  const title = isUp ? titleOf(seen, visit.env) : "Just started";
  const isWorking = title === settlingOnAll;
  const windows = windowDays.map((one) => ({
    href: inEnv(`${visit.path}?days=${one}`, visit.env, environments),
    label: `${one} d`,
    isCurrent: one === days,
  }));
  return (
    <div class="row between row-4">
      <div class="grow">
        <h1>{title}</h1>
        <p class="row row-3 small dim">
          <Badge tone={isWorking ? "ok" : "warn"} dot>
            {isWorking ? "working" : "partly"}
          </Badge>
          <span>
            Heartbeat of {count("copy", "copies", seen.copies)}
            {seen.lastBeatAt && `, last ${duration(Math.max(0, Date.now() - seen.lastBeatAt.getTime()))} ago`}. A gap in
            them is an outage.
          </span>
        </p>
      </div>
      <Segments label="Window" tabs={windows} />
    </div>
  );
}

const settlingOnAll = "Settling on all networks";

function titleOf({ subjects }: Status, env: Environment): string {
  const networks = subjects.filter(({ subject }) => subject !== facilitatorSubject);
  const down = networks.filter(({ isDown }) => isDown).length;
  const unseen = networks.filter(isUnseen).length;
  if (networks.length === 0) return `No ${env} network is served here`;
  if (down > 0) return `${count("network does", "networks do", down)} not settle`;
  return unseen > 0 ? `${count("network", "networks", unseen)} could not settle yet` : settlingOnAll;
}

/** No copy has seen it up. */
function isUnseen({ available, isUp }: SubjectStatus): boolean {
  return available === undefined && !isUp;
}

function StatusFigures({ seen, days }: { seen: Status; days: number }) {
  return (
    <Stats
      stats={[
        {
          name: "Available",
          value: availability(seen.subjects[0]?.available).replace(" %", ""),
          unit: "%",
          note: `of the minutes in ${days} days`,
        },
        { name: "Outages", value: figures(seen.outagesInAll), note: "of this service or of a network" },
        { name: "Reconciled", value: figures(seen.reconciled), note: `ends found after the fact, in ${days} days` },
        {
          name: "Not ended yet",
          value: figures(seen.unfinished.payments),
          note: seen.unfinished.oldest ? (
            <>
              oldest <Time at={seen.unfinished.oldest} show="ago" />
            </>
          ) : (
            "payments under way or unknown"
          ),
        },
      ]}
    />
  );
}

/** The badge for others' pages, and the HTML that shows it. */
function EmbeddedBadge({ visit, environments }: Pick<BodyProps, "visit" | "environments">) {
  const [page, picture] = ["/status", "/status.svg"].map((path) => visit.origin + inEnv(path, visit.env, environments));
  return (
    <div class="stack stack-3" id="badge">
      <h2>Badge</h2>
      <p class="small dim measure">For your own pages; it says what this page says, and is at most five minutes old.</p>
      <img src={`/status.svg?env=${visit.env}`} alt="This facilitator’s availability" width="176" height="20" />
      <Disclosure summary="As HTML">
        <Code
          id="badge-code"
          title="HTML"
        >{`<a href="${page}"><img src="${picture}" alt="x402 facilitator status"></a>`}</Code>
      </Disclosure>
    </div>
  );
}

function Days({ seen, days }: { seen: Status; days: number }) {
  return (
    <Card
      id="days"
      title={`${days} days`}
      aside={
        <p class="legend">
          <span>
            <i class="key key-ok" />
            no outage
          </span>
          <span>
            <i class="key key-2" />
            partly down
          </span>
          <span>
            <i class="key key-bad" />
            down for over an hour
          </span>
          <span>
            <i class="key key-none" />
            no data
          </span>
        </p>
      }
      bare
      foot={
        <>
          <span>{seen.subjects[0]?.days[0]?.day}</span>
          <span class="push">today</span>
        </>
      }
    >
      <ul class="status-list">
        {seen.subjects.map((subject, at) => (
          <li class="card-body stack stack-2">
            <div class="row between">
              <div class="row row-3">
                <h3>{at === 0 ? "Facilitator" : networkName(subject.subject)}</h3>
                <span class="small faint">
                  {at === 0 ? "any copy of it" : "could settle, while the facilitator was up"}
                </span>
              </div>
              <span class="row">
                <span class="small dim num">{availability(subject.available)}</span>
                <Now subject={subject} isUp={at === 0 ? seen.copies > 0 : !subject.isDown} />
              </span>
            </div>
            <Uptime days={subject.days} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Now({ subject, isUp }: { subject: SubjectStatus; isUp: boolean }) {
  if (isUnseen(subject)) return <Badge>no data</Badge>;
  return (
    <Badge tone={isUp ? "ok" : "bad"} dot>
      {isUp ? "working" : "down"}
    </Badge>
  );
}
