/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { Card } from "../../../shared/page/card.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Segments } from "../../../shared/page/tabs.tsx";
import { listedNetworks } from "../../discovery/listed-networks.ts";
import { readQuery } from "../../http/query.ts";
import { listPayees, lookedAtMax, type PayeeOrder, type PayeePage, payeesQuery } from "../../settlements/payees.ts";
import { rowsAPage } from "../address.ts";
import { inEnv } from "../layout.tsx";
import type { Page, Visit } from "../page.ts";
import { PayeeTable } from "../payee-table.tsx";
import type { ReadNeeds } from "./transactions.tsx";

/** The accounts that are paid most through this facilitator. */
export function payeesPage(context: ReadNeeds, environments: readonly Environment[]): Page {
  return {
    path: "/payees",
    scriptBytesMax: 2_048,
    show: async ({ query, env }: Visit) => {
      const { sort = "payments", cursor, self } = readQuery(payeesQuery, Object.fromEntries(query));
      const networks = listedNetworks(context, env);
      const page = await context.reads.run((db) =>
        listPayees(db, { env, networks, sort, cursor, self, limit: rowsAPage }),
      );
      const to = (path: string) => inEnv(path, env, environments);
      return {
        title: "Payees",
        description: "Who is paid through this x402 facilitator: payments, volume, payers and what each sells.",
        section: "/payees",
        isPublic: true,
        body: <Listed {...{ page, sort, to }} withoutSelf={self === "hide"} isFirst={cursor === undefined} />,
      };
    },
  };
}

interface ListedProps {
  readonly page: PayeePage;
  readonly sort: PayeeOrder;
  readonly withoutSelf: boolean;
  readonly isFirst: boolean;
  readonly to: (path: string) => string;
}

interface Asked {
  readonly sort?: PayeeOrder;
  readonly self?: boolean;
  readonly cursor?: string;
}

function pathOf({ sort, self, cursor }: Asked): string {
  const search = new URLSearchParams({
    ...(sort !== "payments" && { sort }),
    ...(self && { self: "hide" }),
    ...(cursor !== undefined && { cursor }),
  });
  return search.size === 0 ? "/payees" : `/payees?${search}`;
}

const orders: ReadonlyArray<readonly [PayeeOrder, string]> = [
  ["payments", "Payments"],
  ["volume", "USDC"],
  ["payers", "Payers"],
];

function Listed({ page: { payees, cursor }, sort, withoutSelf, isFirst, to }: ListedProps) {
  const at = (asked: Asked) => to(pathOf({ sort, self: withoutSelf, ...asked }));
  return (
    <div class="wrap page stack stack-6">
      <div class="row between row-4">
        <div class="grow">
          <h1>Payees</h1>
          <p class="dim small">Who was paid through this facilitator, in settled payments since its record begins.</p>
        </div>
        <Segments
          label="Self-payments"
          tabs={[
            { href: at({ self: false }), label: "All payments", isCurrent: !withoutSelf },
            { href: at({ self: true }), label: "Without self-payments", isCurrent: withoutSelf },
          ]}
        />
      </div>
      <Card
        id="payees"
        title="Public record"
        aside={<MostBy sort={sort} at={at} />}
        bare
        foot={
          <Pagination
            label="Payees"
            first={isFirst ? undefined : at({})}
            next={cursor === null ? undefined : at({ cursor })}
            said="Any account may be paid here: nobody was asked, and nobody was vetted."
          />
        }
      >
        {payees.length > 0 ? (
          <PayeeTable label="Table of payees" payees={payees} to={to} />
        ) : (
          <NoPayees {...{ withoutSelf, isFirst }} isLast={cursor === null} />
        )}
      </Card>
      <p class="small faint measure">
        Payments cost their payer nothing but the amount, so an account can pay itself from others of its own: without{" "}
        <a class="link" href={to("/#rule")}>
          self-payments
        </a>{" "}
        those are left out that the rule tells. Many payers say more than many payments.
        {withoutSelf &&
          ` Here the ${figures(lookedAtMax)} payees with most, self-payments included, are put in order without them, then the next ${figures(lookedAtMax)}.`}
      </p>
    </div>
  );
}

function NoPayees({
  withoutSelf,
  isFirst,
  isLast,
}: Pick<ListedProps, "withoutSelf" | "isFirst"> & { isLast: boolean }) {
  if (!isLast) {
    return (
      <Empty icon="wallet" title="These have self-payments alone">
        A page looks at some thousand payees at most: the next one goes on from there.
      </Empty>
    );
  }
  if (withoutSelf) {
    return (
      <Empty
        icon="wallet"
        title={isFirst ? "Nobody was paid without self-payments yet" : "All others have self-payments alone"}
      >
        Here would be every account into which a payment has settled that is no self-payment.
      </Empty>
    );
  }
  return (
    <Empty icon="wallet" title="Nobody was paid yet">
      Here would be every account into which a payment has settled.
    </Empty>
  );
}

function MostBy({ sort, at }: { sort: PayeeOrder; at: (asked: Asked) => string }) {
  const tabs = orders.map(([order, label]) => ({ href: at({ sort: order }), label, isCurrent: order === sort }));
  return (
    <div class="row row-tight">
      <span class="small faint">Most</span>
      <Segments label="Most first, by" tabs={tabs} />
    </div>
  );
}
