/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Button, ButtonLink, GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Code } from "../../../shared/page/code.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Select } from "../../../shared/page/field.tsx";
import { Segments } from "../../../shared/page/tabs.tsx";
import type { FeePayerHealth } from "../../fee-payers-health.ts";
import type { Overview } from "../../overview.ts";
import type { Payee } from "../../settlements/payees.ts";
import { isSelfPayer } from "../../settlements/self-payments.ts";
import type { Newest } from "../../transactions.ts";
import { PayeeTable } from "../payee-table.tsx";
import { RecordTable } from "../record-table.tsx";
import { count, networkChoices } from "../words.tsx";
import { FeePayers, needsMoneySoon } from "./fee-payers.tsx";
import { Charts, Networks, Reasons, Tiles } from "./figures.tsx";

interface BodyProps {
  readonly asked: {
    readonly env: Environment;
    readonly network: string | undefined;
    readonly days: number;
    readonly withoutSelf: boolean;
  };
  readonly figures: Overview;
  readonly feePayers: readonly FeePayerHealth[];
  readonly recent: Newest;
  /** Since the record begins. */
  readonly paidMost: readonly Payee[];
  readonly origin: string;
  /** Keeps a link in the environment that is looked at. */
  readonly to: (path: string) => string;
  /** This page with something of its address changed. */
  readonly change: (changes: Readonly<Record<string, string | undefined>>) => string;
}

export function OverviewBody({ asked, figures, feePayers, recent, paidMost, origin, to, change }: BodyProps) {
  return (
    <div class="wrap page stack stack-6">
      <OverviewHead {...{ asked, figures, feePayers, change }} />
      <Tiles figures={figures} days={asked.days} />
      <Charts figures={figures} days={asked.days} />
      <FeePayers feePayers={feePayers} />
      <div class="cols cols-2 cols-even">
        <Networks figures={figures} days={asked.days} />
        <Reasons figures={figures} days={asked.days} to={to} />
      </div>
      {paidMost.length > 0 && (
        <Card
          id="paid-most"
          title="Paid most often"
          aside={<span class="small faint">since the record begins</span>}
          bare
          isLater
          foot={
            <GoLink class="small push" href={to(asked.withoutSelf ? "/payees?self=hide" : "/payees")}>
              All payees
            </GoLink>
          }
        >
          <PayeeTable label="Table of who is paid most often" payees={paidMost} to={to} />
        </Card>
      )}
      <Card
        id="recent"
        title="Recent"
        aside={<SelfSwitch withoutSelf={asked.withoutSelf} change={change} />}
        bare
        isLater
        foot={
          <>
            {recent.rows.length > 0 && <span class="num">Newest {recent.rows.length}</span>}
            <GoLink class="small push" href={to("/transactions")}>
              All settlements
            </GoLink>
          </>
        }
      >
        {recent.rows.length > 0 ? (
          <RecordTable label="Table of recent payments" rows={recent.rows} to={to} />
        ) : (
          <Empty icon="activity" title={recent.hasMore ? "None among the newest" : "Nothing yet"}>
            Here would be the newest payments that settled, failed or were refused.
          </Empty>
        )}
      </Card>
      <Rule />
      <UseIt origin={origin} to={to} />
    </div>
  );
}

/** On how many networks settlements go through, whether fee payers need money, and what to look at. */
function OverviewHead({
  asked,
  figures,
  feePayers,
  change,
}: Pick<BodyProps, "asked" | "figures" | "feePayers" | "change">) {
  const served = feePayers.filter(
    (payer, at) => feePayers.findIndex(({ network }) => network === payer.network) === at,
  );
  const settling = served.filter((payer) => payer.settling).length;
  const ill = feePayers.filter(({ balance, low, empty }) => balance === undefined || low || empty).length;
  const soon = feePayers.filter(needsMoneySoon).length;
  const tooDear = served.filter(({ feesTooHigh }) => feesTooHigh).length;
  const title =
    served.length === 0
      ? `No ${asked.env} network is served here`
      : settling === 0
        ? "Nothing settles right now"
        : `Settling on ${count("network", "networks", settling)}`;
  const windows = [1, 7, 30, 90, 365].map((days) => ({
    href: change({ days: String(days) }),
    label: days === 1 ? "Today" : `${days} d`,
    isCurrent: days === asked.days,
  }));
  return (
    <div class="row between row-4">
      <div class="grow">
        <h1>{title}</h1>
        <p class="row row-3 small dim">
          {served.length > 0 &&
            (ill === 0 ? (
              <Badge tone="ok" dot>
                {tooDear === 0 ? "All fee payers can pay" : "All fee payers have money"}
              </Badge>
            ) : (
              <Badge tone="warn" dot>
                {count("fee payer", "fee payers", ill)} low or not readable
              </Badge>
            ))}
          {tooDear > 0 && <span>Fees are too high on {count("network", "networks", tooDear)}.</span>}
          {soon > 0 && (
            <span>
              {count("needs", "need", soon).replace(/^1 needs/, "One of them needs")} topping up within a week.
            </span>
          )}
          {settling < served.length && settling > 0 && (
            <span>{count("network does", "networks do", served.length - settling)} not settle.</span>
          )}
        </p>
      </div>
      <div class="row">
        <Segments label="Window" tabs={windows} />
        <NetworkFilter
          asked={asked}
          networks={[...new Set([...figures.networks, ...feePayers.map(({ network }) => network)])]}
        />
      </div>
    </div>
  );
}

function NetworkFilter({ asked, networks }: Pick<BodyProps, "asked"> & { networks: readonly string[] }) {
  return (
    <form class="row" action="">
      {asked.days !== 30 && <input type="hidden" name="days" value={asked.days} />}
      <input type="hidden" name="env" value={asked.env} />
      {asked.withoutSelf && <input type="hidden" name="self" value="hide" />}
      <Select name="network" aria-label="Network" {...networkChoices(networks, asked.network ?? "")} />
      <Button size="small">Show</Button>
    </form>
  );
}

function SelfSwitch({ withoutSelf, change }: { withoutSelf: boolean; change: BodyProps["change"] }) {
  return (
    <Segments
      label="Self-payments"
      tabs={[
        { href: change({ self: undefined }), label: "All payments", isCurrent: !withoutSelf },
        { href: change({ self: "hide" }), label: "Without self-payments", isCurrent: withoutSelf },
      ]}
    />
  );
}

function Rule() {
  return (
    <div id="rule" class="stack stack-2">
      <p class="small faint measure">
        Self-payments are those of payers who only ever paid one payee that paid them back, or whose first money here
        came from the same account as that payee’s. Refused payments name a payer that was not checked, so they are
        never left out.
      </p>
      <Disclosure summary="The rule in SQL">
        <Code id="rule-sql" title="Of the account p">
          {isSelfPayer}
        </Code>
      </Disclosure>
    </div>
  );
}

function UseIt({ origin, to }: { origin: string; to: BodyProps["to"] }) {
  return (
    <section class="card later" aria-labelledby="use-title">
      <div class="card-body cols cols-2">
        <div class="stack stack-3">
          <h2 id="use-title">Use it for your own server</h2>
          <p class="small dim measure">
            Point the stock x402 middleware at this address. No account, no key, no fee to us. Your payers need USDC and
            nothing else.
          </p>
          <div class="row">
            <ButtonLink look="primary" href={to("/docs")}>
              Quick start
            </ButtonLink>
            <ButtonLink href={to("/resources/check")}>Check my server</ButtonLink>
          </div>
        </div>
        <Code id="use-code" title="Express">{`const facilitator = new HTTPFacilitatorClient({
  url: "${origin}",
});
app.use(paymentMiddlewareFromConfig(routes, facilitator, schemes));`}</Code>
      </div>
    </section>
  );
}
