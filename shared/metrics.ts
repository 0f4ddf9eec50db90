import type { DurabilityWatch } from "./durability.ts";
import type { JobRecord } from "./job-record.ts";

/** What a figure in the Prometheus text format 0.0.4 is of. */
export type Labels = Readonly<Record<string, string>>;

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

export type { Family };

export class Counter extends Family {
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

export class Histogram extends Family {
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

export class Gauge extends Family {
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

export function memory(): Family {
  return new Gauge("process_resident_memory_bytes", "Resident memory.", [[{}, process.memoryUsage.rss()]]);
}

function textOf(labels: Labels): string {
  const escaped = (value: string) => value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

/** `name` by job: 1 for one that fails or hangs. */
export function jobGauge(name: string, record: JobRecord): Family {
  return new Gauge(
    name,
    "1 when a background job of this copy fails, or has not ended for long.",
    record.read().map((job) => [{ task: job.name }, job.state === "ok" ? 0 : 1]),
  );
}

/** 1 while what was answered may be lost with the database's machine, as far as can be seen. */
export function durabilityGauge({ now, isSafe }: DurabilityWatch): Family {
  const labels = { declared: now.declared, seen: now.seen ?? "" };
  return new Gauge("database_failover_may_lose", "1 while a failover of the database may lose what was answered.", [
    [labels, isSafe ? 0 : 1],
  ]);
}
