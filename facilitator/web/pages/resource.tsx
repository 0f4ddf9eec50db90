/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { figures, percent } from "../../../shared/page/figures.ts";
import { KeyValues } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { listedNetworks } from "../../discovery/listed-networks.ts";
import { type ResourceRecord, resourceRecord } from "../../discovery/resource-record.ts";
import { paymentsFor } from "../address.ts";
import { inEnv } from "../layout.tsx";
import type { Page } from "../page.ts";
import { PaidDays, PriceHistory } from "../resource-history.tsx";
import type { SiteNeeds } from "../site.ts";
import { exactAmount, NetworkMark } from "../words.tsx";

/** One listed resource: how it is paid, and what was settled for it. */
export function resourcePage(
  context: Pick<SiteNeeds, "reads" | "config" | "schemes">,
  environments: readonly Environment[],
): Page {
  return {
    path: "/resources/{id}",
    scriptBytesMax: 2_048,
    show: async (visit) => {
      const networks = listedNetworks(context, visit.env);
      const record = await context.reads.run((db) => resourceRecord({ db }, visit.params.id ?? "", networks));
      return {
        title: record.resource.serviceName ?? record.resource.resource,
        section: "/resources",
        isPublic: true,
        body: <ResourceView record={record} to={(path) => inEnv(path, visit.env, environments)} />,
      };
    },
  };
}

interface ResourceProps {
  readonly record: ResourceRecord;
  readonly to: (path: string) => string;
}

function ResourceView({ record, to }: ResourceProps) {
  const { days } = record;
  return (
    <div class="wrap page stack stack-6">
      <ResourceHead record={record} to={to} />
      <div class="cols cols-7-5">
        <div class="stack stack-6">
          <SettledPayments record={record} to={to} />
          <Card id="price" title="Price" aside={<span class="small faint">USDC, from settled payments</span>}>
            <PriceHistory days={days} />
          </Card>
        </div>
        <Terms record={record} to={to} />
      </div>
    </div>
  );
}

function ResourceHead({ record: { resource }, to }: ResourceProps) {
  const name = resource.serviceName ?? new URL(resource.resource).host;
  return (
    <div class="page-head">
      <Crumbs trail={[{ href: to("/resources"), label: "Resources" }]} here={name} />
      <div class="row row-3">
        <h1 class="said">{name}</h1>
        <Badge tone="ok" dot>
          listed
        </Badge>
      </div>
      <p class="small dim mono said">{resource.resource}</p>
      {resource.description && <p class="measure">{resource.description}</p>}
    </div>
  );
}

/** The record has payments for a route under each of its paths. */
function SettledPayments({ record: { resource, isRoute, days }, to }: ResourceProps) {
  const payments = isRoute ? undefined : paymentsFor(resource.resource);
  const settled = days.reduce((sum, day) => sum + day.settled, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  return (
    <Card
      id="paid"
      title="Settled payments"
      aside={
        <span class="small faint num">
          {settled + failed === 0
            ? `none in ${days.length} days`
            : `${figures(settled)} in ${days.length} days, ${percent(settled / (settled + failed))} of those sent`}
        </span>
      }
      foot={
        payments !== undefined && (
          <GoLink class="small push" href={to(payments)}>
            Its payments
          </GoLink>
        )
      }
    >
      <PaidDays days={days} />
    </Card>
  );
}

function Terms({ record: { resource, address }, to }: ResourceProps) {
  return (
    <Card
      id="terms"
      title="How it is paid"
      foot={
        address !== undefined && (
          <GoLink class="small push" href={to(`/resources/check?url=${encodeURIComponent(address)}`)}>
            Check it now
          </GoLink>
        )
      }
    >
      {(resource.accepts ?? []).slice(0, 10).map(({ network, asset, amount, payTo, scheme }) => (
        <>
          <KeyValues
            entries={[
              ["Price now", exactAmount(network, asset, amount)],
              ["Network", <NetworkMark network={network} />],
              ["Scheme", scheme],
              [
                "Paid to",
                <Hash
                  short
                  value={payTo}
                  label={`Copy payee ${payTo}`}
                  href={to(`/payees/${encodeURIComponent(payTo)}`)}
                />,
              ],
            ]}
          />
          <hr />
        </>
      ))}
      <KeyValues
        entries={[
          ["Protocol", `x402 version ${resource.x402Version}`],
          ["Last paid", <Time at={resource.lastUpdated} show="moment" />],
        ]}
      />
    </Card>
  );
}
