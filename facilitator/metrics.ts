import type { Database } from "../shared/postgres.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";

/** What this process has counted since it started; everything else is read when it is asked for. */
export class Metrics {
  readonly answers = new Counter("facilitator_answers_total", "Answers of /verify and /settle by outcome.");
  readonly durations = new Histogram("facilitator_answer_seconds", "Time to an answer of /verify and /settle.");
  readonly reconciled = new Counter("facilitator_reconciled_total", "Abandoned payments whose end was found out.");
  readonly listings = new Counter("facilitator_listings_total", "What became of resources offered to the catalog.");
}

/** GET /metrics in the Prometheus text format 0.0.4. A database that does not answer leaves its own figures out. */
export async function metricsText(context: Needs): Promise<string> {
  const { answers, durations, reconciled, listings } = context.metrics;
  const own = [answers, durations, reconciled, listings, ...balances(context), memory()];
  return [...own, ...(await backlog(context))].map((family) => family.text()).join("");
}

interface Needs {
  readonly metrics: Metrics;
  readonly db: Database;
  readonly schemes: SchemeRegistry;
}

type Labels = Readonly<Record<string, string>>;

abstract class Family {
  readonly name: string;
  readonly #help: string;
  readonly #type: string;

  constructor(name: string, type: string, help: string) {
    this.name = name;
    this.#type = type;
    this.#help = help;
  }

  text(): string {
    const head = [`# HELP ${this.name} ${this.#help}`, `# TYPE ${this.name} ${this.#type}`];
    return `${[...head, ...this.lines()].join("\n")}\n`;
  }

  protected abstract lines(): readonly string[];
}

class Counter extends Family {
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    super(name, "counter", help);
  }

  add(labels: Labels): void {
    const key = textOf(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + 1);
  }

  protected lines(): readonly string[] {
    return [...this.#values].map(([labels, value]) => `${this.name}{${labels}} ${value}`);
  }
}

const boundsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

class Histogram extends Family {
  readonly #series = new Map<string, { readonly buckets: number[]; count: number; sum: number }>();

  constructor(name: string, help: string) {
    super(name, "histogram", help);
  }

  observe(labels: Labels, seconds: number): void {
    const key = textOf(labels);
    const series = this.#series.get(key) ?? { buckets: boundsSeconds.map(() => 0), count: 0, sum: 0 };
    this.#series.set(key, series);
    series.count += 1;
    series.sum += seconds;
    const bucket = boundsSeconds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  protected lines(): readonly string[] {
    return [...this.#series].flatMap(([labels, { buckets, count, sum }]) => {
      let upTo = 0;
      const bucketLines = boundsSeconds.map((bound, index) => {
        upTo += buckets[index] ?? 0;
        return `${this.name}_bucket{${labels},le="${bound}"} ${upTo}`;
      });
      return [
        ...bucketLines,
        `${this.name}_bucket{${labels},le="+Inf"} ${count}`,
        `${this.name}_sum{${labels}} ${sum}`,
        `${this.name}_count{${labels}} ${count}`,
      ];
    });
  }
}

class Gauge extends Family {
  readonly #values: ReadonlyArray<readonly [Labels, number]>;

  constructor(name: string, help: string, values: ReadonlyArray<readonly [Labels, number]>) {
    super(name, "gauge", help);
    this.#values = values;
  }

  protected lines(): readonly string[] {
    return this.#values.map(([labels, value]) => {
      const text = textOf(labels);
      return `${this.name}${text === "" ? "" : `{${text}}`} ${value}`;
    });
  }
}

function textOf(labels: Labels): string {
  const escaped = (value: string) => value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
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
  ];
}

function memory(): Family {
  return new Gauge("process_resident_memory_bytes", "Resident memory.", [[{}, process.memoryUsage.rss()]]);
}

async function backlog({ db }: Pick<Needs, "db">): Promise<readonly Family[]> {
  try {
    const { rows: states } = await db.query(
      `select network, state, count(*)::int as count from payments
        where state in ('claimed', 'broadcast', 'unknown') group by network, state`,
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
