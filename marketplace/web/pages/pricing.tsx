/** @jsxRuntime automatic @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { networkOf } from "../../../shared/networks.ts";
import { ButtonLink, GoLink } from "../../../shared/page/button.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { type Column, Table } from "../../../shared/page/table.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { type AgentPage, listAgents } from "../../agents/list.ts";
import { listQuery } from "../../agents/list-query.ts";
import { creditWorth, dollarAmount, dollarsPerCredit } from "../../answers/amounts.ts";
import type { Config } from "../../config.ts";
import type { FacilitatorClient } from "../../payments/facilitator/client.ts";
import { payableHere } from "../../payments/facilitator/payable-networks.ts";
import { svgProducts } from "../../svg/products.ts";
import type { Page } from "../page.ts";
import { PriceList } from "../price-list.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl" | "platformFeeBasisPoints" | "freeTries">;
  readonly facilitator: FacilitatorClient;
}

/** Prices, the bearer of each fee, and the cases in which a buyer does not pay. */
export function pricingPage({ db, config, facilitator }: Needs): Page {
  const { publicUrl, platformFeeBasisPoints, freeTries } = config;
  const query = listQuery.parse({ limit: "8", sort: "most_run" });
  return {
    path: "/pricing",
    scriptBytesMax: 4_096,
    show: async () => {
      const [agents, networks] = await Promise.all([listAgents({ db, publicUrl }, query), payableHere(facilitator)]);
      return {
        title: "Pricing",
        description: `You pay for runs that succeed: ${creditWorth} whichever way you pay. No plan, no seat, no minimum.`,
        body: (
          <div class="wrap page stack stack-10">
            <div class="page-head">
              <h1>You pay for runs that succeed</h1>
              <p class="lede">
                No plan, no seat, no minimum. Creators set prices; {creditWorth} whichever way you pay.
              </p>
            </div>
            <WaysToPay feeBasisPoints={platformFeeBasisPoints} networks={networks} />
            <div class="cols cols-2">
              <Agents page={agents} />
              <Svg triesPerDay={freeTries.perAddress} />
            </div>
            <Fees />
            <NotPaid />
          </div>
        ),
      };
    },
  };
}

function WaysToPay({ feeBasisPoints, networks }: { feeBasisPoints: number; networks: readonly string[] }) {
  const names = networks.map((network) => networkOf(network)?.name ?? network);
  return (
    <div class="cols cols-3 cols-even">
      <WayToPay
        id="credits"
        title="Credits"
        badge="key or MCP"
        amount={dollarAmount(1_000)}
        unit="USDC buy 1,000"
        points={["Caps for each key, a minute and a day", "Refuse a price that rose", "Do not expire"]}
        link={{ href: "/docs/first-run#3-buy-credits", label: "How to buy credits" }}
      />
      <WayToPay
        id="wallet"
        title="Wallet"
        badge="no account"
        amount={dollarAmount(1)}
        unit="USDC for each credit"
        points={[
          `Straight to the creator, from ${dollarsPerCredit}`,
          "Network fee paid by the facilitator",
          names.length > 0 ? names.join(", ") : "Networks cannot be named at the moment",
        ]}
        link={{ href: "/docs/per-call", label: "How per call works" }}
      />
      <WayToPay
        id="creators"
        title="Publishing"
        badge="creators"
        amount={percentOf(0)}
        unit="of wallet sales"
        points={[
          `${percentOf(feeBasisPoints)} of credits sold`,
          "Wallet sales in USDC to your own account",
          "Models at the operator’s listed cost, or your own service",
        ]}
        link={{ href: "/docs/publishing", label: "How to publish" }}
      />
    </div>
  );
}

const percentOf = (basisPoints: number) => `${basisPoints / 100} %`;

interface WayToPayProps {
  readonly id: string;
  readonly title: string;
  readonly badge: string;
  readonly amount: string;
  readonly unit: string;
  readonly points: readonly string[];
  readonly link: { readonly href: string; readonly label: string };
}

function WayToPay({ id, title, badge, amount, unit, points, link }: WayToPayProps) {
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        <span class="badge">{badge}</span>
      </div>
      <div class="card-body stack">
        <p class="money-lg">
          <b>{amount}</b>
          <span>{unit}</span>
        </p>
        <ul class="checks">
          {points.map((point) => (
            <li class="is-ok">
              <Icon name="check" />
              <span>{point}</span>
            </li>
          ))}
        </ul>
      </div>
      <div class="card-foot">
        <ButtonLink class="grow" href={link.href}>
          {link.label}
        </ButtonLink>
      </div>
    </section>
  );
}

function Agents({ page: { agents, total } }: { page: AgentPage }) {
  const items = agents.map(({ agent, price_credits: credits }) => ({ href: `/${agent}`, name: agent, credits }));
  return (
    <section class="stack" aria-labelledby="agents">
      <div class="row between">
        <h2 id="agents">What agents cost</h2>
        <GoLink class="small" href="/explore">
          All {total.toLocaleString("en")}
        </GoLink>
      </div>
      {items.length > 0 ? (
        <PriceList label="Prices of agents" items={items} />
      ) : (
        <p class="dim">No agent is listed yet. Prices are set by their creators, in whole credits.</p>
      )}
    </section>
  );
}

function Svg({ triesPerDay }: { triesPerDay: number }) {
  const priceOf = (product: keyof typeof svgProducts) => Number(svgProducts[product].price);
  const items = [
    { href: "/svg", name: "trace an image", credits: priceOf("svg-vectorize") },
    { href: "/svg", name: "draw from a prompt", credits: priceOf("svg-generate") },
    { href: "/svg", name: "draw in high detail", credits: priceOf("svg-generate-hd") },
  ];
  return (
    <section class="stack" aria-labelledby="svg">
      <div class="row between">
        <h2 id="svg">SVG</h2>
        <GoLink class="small" href="/svg">
          Workbench
        </GoLink>
      </div>
      <PriceList label="Prices of drawings" items={items} />
      {triesPerDay > 0 && (
        <p class="small dim">
          Small pictures are traced for nothing, {triesPerDay} {triesPerDay === 1 ? "time" : "times"} a day.
        </p>
      )}
    </section>
  );
}

interface Fee {
  readonly what: string;
  readonly who: string;
  readonly amount: ComponentChildren;
}

const fees: readonly Fee[] = [
  { what: "Network fee of a payment", who: "the facilitator", amount: "nothing" },
  { what: "Network fee of what an agent writes to Hedera", who: "the operator", amount: "nothing" },
  { what: "Network’s own token in your wallet", who: "not needed", amount: "USDC is enough" },
  { what: "Asking for a price", who: "nobody", amount: "nothing" },
  { what: "Listing, searching, reading results again", who: "nobody", amount: "nothing" },
];

const feeColumns: readonly Column<Fee>[] = [
  { head: "What", cell: ({ what }) => what },
  { head: "Who bears it", cell: ({ who }) => <span class="dim">{who}</span> },
  { head: "You pay", cell: ({ amount }) => <span class="dim">{amount}</span> },
];

function Fees() {
  return (
    <section class="stack" aria-labelledby="fees">
      <h2 id="fees">Fees</h2>
      <div class="card">
        <Table label="Fees (table)" columns={feeColumns} rows={fees} />
      </div>
    </section>
  );
}

interface Outcome {
  readonly what: string;
  readonly credits: string;
  readonly wallet: string;
}

const outcomes: readonly Outcome[] = [
  { what: "The agent failed", credits: "held, then freed", wallet: "not settled" },
  { what: "Your input broke a rule", credits: "not held", wallet: "nothing to sign" },
  { what: "The price rose", credits: "refused where you sent max_credits", wallet: "new offer, nothing moves" },
  { what: "The answer got lost", credits: "same request by its name, free", wallet: "same payment again, free" },
  { what: "The end of a payment is not known", credits: "–", wallet: "do not pay again; post the same payment" },
  {
    what: "An agent that cannot be undone failed",
    credits: "freed",
    wallet: "settled first; stays good until a run succeeds",
  },
];

const outcomeColumns: readonly Column<Outcome>[] = [
  { head: "What happened", cell: ({ what }) => what },
  { head: "Credits", cell: ({ credits }) => <span class="dim">{credits}</span> },
  { head: "Wallet", cell: ({ wallet }) => <span class="dim">{wallet}</span> },
];

function NotPaid() {
  return (
    <section class="stack" aria-labelledby="not-paid">
      <h2 id="not-paid">When you do not pay</h2>
      <div class="card">
        <Table label="When you do not pay (table)" columns={outcomeColumns} rows={outcomes} />
      </div>
    </section>
  );
}
