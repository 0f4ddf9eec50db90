import type { Environment } from "../../shared/networks.ts";
import type { Context } from "../context.ts";
import type { CheckNeeds } from "../discovery/seller-check.ts";
import { settledHere } from "../discovery/settled-here.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { NetworkFees } from "../network-fees.ts";
import { environmentOfAll } from "../settlements/scope.ts";
import type { Page } from "./page.ts";
import { accountPages } from "./pages/account.tsx";
import { checkPages } from "./pages/check.tsx";
import { docsPage } from "./pages/docs.tsx";
import { findPage } from "./pages/find.ts";
import { overviewPages } from "./pages/overview.tsx";
import { payeesPage } from "./pages/payees.tsx";
import { paymentPages } from "./pages/payment.tsx";
import { referencePages } from "./pages/reference.tsx";
import { resourcePages } from "./pages/resources.tsx";
import { statusPages } from "./pages/status.tsx";
import { transactionsPages } from "./pages/transactions.tsx";

export type SiteNeeds = Pick<Context, "config" | "db" | "reads" | "archive" | "schemes" | "callCounts" | "fetchUnpaid">;

/** Every page of the daemon: these are served, and tested in a browser. */
export function sitePages(
  context: SiteNeeds,
  environments: readonly Environment[],
  endpoints: readonly Endpoint[],
): Page[] {
  return [
    ...overviewPages(context, environments),
    ...transactionsPages(context, environments),
    findPage(),
    ...paymentPages(context, new NetworkFees(context.db, context.schemes), environments),
    payeesPage(context, environments),
    ...accountPages(context, environments),
    ...checkPages(() => checkNeeds(context), environments),
    ...resourcePages(context, environments),
    docsPage(context),
    ...referencePages(endpoints),
    ...statusPages(context, environments),
  ];
}

function checkNeeds(context: SiteNeeds): CheckNeeds {
  const { db, callCounts, fetchUnpaid, config } = context;
  const { allowLocalhost } = config.discovery;
  return { db, callCounts, fetchUnpaid, allowLocalhost, settledHere: settledHere(context) };
}

/** The environments in which this daemon serves a network, the one of its figures first. */
export function servedEnvironments({ schemes, config }: Pick<Context, "schemes" | "config">): Environment[] {
  const served = [...new Set(schemes.all.map(({ network }) => config.environmentOf(network)))];
  const first = environmentOfAll(served);
  return [first, ...served.filter((env) => env !== first)];
}
