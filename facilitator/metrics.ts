import type { DurabilityWatch } from "../shared/durability.ts";
import type { JobRecord } from "../shared/job-record.ts";
import { Counter, durabilityGauge, type Family, Gauge, Histogram, jobGauge, memory } from "../shared/metrics.ts";
import type { Database } from "../shared/postgres.ts";
import type { Reads } from "../shared/reads.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import { amongUnfinished, inStates, unfinishedStates } from "./payment-states.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import type { LostSettlements } from "./settlements/lost-settlements.ts";

/** What this process has counted since it started, a field a family; everything else is read when it is asked for. */
export class Metrics {
  readonly answers = new Counter(
    "facilitator_answers_total",
    "Answers of /verify and /settle by outcome; `error` is a 5xx.",
  );
  readonly durations = new Histogram("facilitator_answer_seconds", "Time to an answer of /verify and /settle.");
  readonly reconciled = new Counter("facilitator_reconciled_total", "Abandoned payments whose end was found out.");
  readonly listings = new Counter("facilitator_listings_total", "What became of resources offered to the catalog.");
  readonly jobFailures = new Counter("facilitator_job_failures_total", "Runs of background jobs that failed.");
}

/** GET /metrics in the Prometheus text format 0.0.4. A database that does not answer leaves its own figures out. */
export async function metricsText(context: Needs): Promise<string> {
  const counted: readonly Family[] = Object.values(context.metrics);
  const own = [
    ...counted,
    jobGauge("facilitator_job_troubled", context.jobRecord),
    ...balances(context),
    settling(context),
    durabilityGauge(context.durability),
    foundAgain(context),
    ...(context.valkey?.families ?? []),
    ...context.reads.families,
    memory(),
  ];
  return [...own, ...(await backlog(context))].map((family) => family.text()).join("");
}

interface Needs {
  readonly metrics: Metrics;
  readonly db: Database;
  readonly schemes: SchemeRegistry;
  readonly jobRecord: JobRecord;
  readonly durability: DurabilityWatch;
  readonly valkey: ValkeyCounts | undefined;
  readonly reads: Reads;
  readonly lostSettlements: LostSettlements;
}

function foundAgain({ lostSettlements }: Pick<Needs, "lostSettlements">): Family {
  return new Gauge(
    "facilitator_settlements_found_again",
    "Settlements that the database had lost and that were found again on their chain, of all copies.",
    (lostSettlements.foundAgain ?? []).map(({ network, payments }) => [{ network }, payments]),
  );
}

function balances({ schemes }: Pick<Needs, "schemes">): readonly Family[] {
  const payers = schemes.all.flatMap((scheme) =>
    scheme.balances().map((payer) => ({ labels: { network: scheme.network, fee_payer: payer.feePayer }, ...payer })),
  );
  const known = payers.flatMap(({ labels, unit, decimals, balance }) =>
    balance === undefined ? [] : [[{ ...labels, unit }, Number(balance) / 10 ** decimals] as const],
  );
  return [
    new Gauge("facilitator_fee_payer_balance", "What each fee payer holds, in whole units.", known),
    new Gauge(
      "facilitator_fee_payer_low",
      "1 when a fee payer is below its warning line or its balance cannot be read.",
      payers.map(({ labels, low, balance }) => [labels, low || balance === undefined ? 1 : 0]),
    ),
    new Gauge(
      "facilitator_fee_payer_leased",
      "1 when this copy looks after the fee payer; over all copies it is 1.",
      payers.map(({ labels, leased }) => [labels, leased ? 1 : 0]),
    ),
    new Gauge(
      "facilitator_fee_payer_signing",
      "0 while the fee payer's key cannot be asked to sign.",
      payers.map(({ labels, signs }) => [labels, signs ? 1 : 0]),
    ),
  ];
}

function settling({ schemes }: Pick<Needs, "schemes">): Family {
  return new Gauge(
    "facilitator_network_settling",
    "0 while a network is away, its fees are too high, or no fee payer there can pay.",
    schemes.all.map((scheme) => [{ network: scheme.network }, schemes.isSettling(scheme) ? 1 : 0]),
  );
}

async function backlog({ db }: Pick<Needs, "db">): Promise<readonly Family[]> {
  try {
    const { rows: states } = await db.query(
      `select network, state, count(*)::int as count from payments
        where ${amongUnfinished} and ${inStates(unfinishedStates)} group by network, state`,
    );
    const { rows: queue } = await db.query("select count(*)::int as count from uncounted_settlements");
    const { rows: offers } = await db.query("select count(*)::int as count from discovery_offers");
    return [
      new Gauge(
        "facilitator_payments_unfinished",
        "Payments under way or of unknown outcome.",
        states.map(({ network, state, count }) => [{ network, state }, count]),
      ),
      new Gauge("facilitator_settlements_uncounted", "Settlements not yet in the daily totals.", [
        [{}, queue[0].count],
      ]),
      new Gauge("facilitator_listings_waiting", "Resources that were paid for and are not listed yet.", [
        [{}, offers[0].count],
      ]),
    ];
  } catch {
    return [];
  }
}
