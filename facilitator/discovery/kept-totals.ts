import type { Database } from "../../shared/postgres.ts";
import { matching } from "./listing.ts";

const keptMs = 10_000;
const keptMax = 500;

/** How many resources are listed, by filter: counted every ten seconds at most, however often it is asked for. */
export class KeptTotals {
  readonly #kept = new Map<string, { readonly at: number; readonly total: Promise<number> }>();

  /** `values` are those that the filters' SQL takes. */
  read(db: Database, values: readonly unknown[]): Promise<number> {
    const filter = JSON.stringify(values);
    const kept = this.#kept.get(filter);
    if (kept && Date.now() - kept.at < keptMs) return kept.total;
    const total = count(db, values);
    total.catch(() => this.#kept.delete(filter));
    this.#kept.delete(filter);
    this.#kept.set(filter, { at: Date.now(), total });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as string);
    return total;
  }
}

async function count(db: Database, values: readonly unknown[]): Promise<number> {
  const { rows } = await db.query({
    name: "count-resources",
    text: `select count(*)::int as total from discovery_resources r where ${matching}`,
    values: [...values],
  });
  return rows[0].total;
}
