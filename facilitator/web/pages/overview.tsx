/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import type { Environment } from "../../../shared/networks.ts";
import { listedNetworks } from "../../discovery/listed-networks.ts";
import { feePayersHealth } from "../../fee-payers-health.ts";
import { readQuery } from "../../http/query.ts";
import { overview } from "../../overview.ts";
import { listPayees } from "../../settlements/payees.ts";
import { newestTransactions, transactionsQuery } from "../../transactions.ts";
import { addressOf } from "../address.ts";
import { inEnv } from "../layout.tsx";
import { OverviewBody } from "../overview/body.tsx";
import type { Page, View, Visit } from "../page.ts";
import type { ReadNeeds } from "./transactions.tsx";

const parameters = ["env", "network", "days", "self"] as const;
const daysUsually = 30;
const payeesShown = 5;

/** Whether this facilitator can be trusted, in figures; `/stats` shows the same to requests for HTML. */
export function overviewPages(context: ReadNeeds, environments: readonly Environment[]): Page[] {
  const show = async (visit: Visit): Promise<View> => {
    const asked = readAsked(visit);
    const list = { env: visit.env, limit: "8", self: asked.withoutSelf ? "hide" : "", network: asked.network ?? "" };
    const [figures, feePayers, recent, paidMost] = await context.reads.run((db) =>
      Promise.all([
        overview({ ...context, db }, asked),
        feePayersHealth({ ...context, db }, visit.env),
        newestTransactions({ ...context, db }, readQuery(transactionsQuery, list)),
        listPayees(db, {
          env: visit.env,
          networks: listedNetworks(context, visit.env),
          limit: payeesShown,
          self: asked.withoutSelf ? "hide" : undefined,
        }),
      ]),
    );
    return {
      title: "Overview",
      description: "Public figures of an x402 facilitator: health, volume, success rate, settlements.",
      section: "/",
      body: (
        <OverviewBody
          {...{ asked, figures, feePayers, recent, origin: visit.origin }}
          paidMost={paidMost.payees}
          to={(path) => inEnv(path, visit.env, environments)}
          change={(changes) => addressOf(visit, parameters, changes)}
        />
      ),
    };
  };
  return [
    { path: "/", scriptBytesMax: 2_048, show: async (visit) => ({ ...(await show(visit)), isPublic: true }) },
    { path: "/stats", isAlsoJson: true, scriptBytesMax: 2_048, show },
  ];
}

interface Asked {
  readonly env: Environment;
  readonly network: string | undefined;
  readonly days: number;
  readonly withoutSelf: boolean;
}

function readAsked({ query, env }: Visit): Asked {
  const days = query.get("days") ?? "";
  if (!/^\d{0,9}$/.test(days))
    throw new ApiError("bad_request", "days must be a whole number.", { body: { field: "days" } });
  return {
    env,
    network: query.get("network")?.replaceAll("\0", "").slice(0, 100) || undefined,
    days: days === "" ? daysUsually : Math.min(365, Math.max(1, Number(days))),
    withoutSelf: query.get("self") === "hide",
  };
}
