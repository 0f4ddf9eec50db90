import { randomUUID } from "node:crypto";
import type { Log } from "../shared/log.ts";
import type { Database } from "../shared/postgres.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";

/** When copies were up, and why a network was not settled on, is kept for so long. */
const uptimeKeptDays = 400;

/** The subject of a copy that is up; a network's is its CAIP-2 id, where it settles. */
export const facilitatorSubject = "facilitator";

/**
 * What each copy writes while it is up: that it is, and on which networks it could settle. Whatever stops a copy stops its
 * beats too, so a minute that no copy wrote is an outage.
 */
export class Heartbeats {
  readonly #id: string;
  readonly #db: Database;
  readonly #schemes: Pick<SchemeRegistry, "all" | "whyNotSettling">;
  readonly #log: Log;

  constructor(db: Database, schemes: Pick<SchemeRegistry, "all" | "whyNotSettling">, log: Log, id = randomUUID()) {
    this.#id = id;
    this.#db = db;
    this.#schemes = schemes;
    this.#log = log;
  }

  async beat(): Promise<void> {
    const causes = this.#schemes.all.map((scheme) => ({
      network: scheme.network,
      cause: this.#schemes.whyNotSettling(scheme),
    }));
    const settling = causes.flatMap(({ network, cause }) => (cause === undefined ? [network] : []));
    // In one order, so that two copies never wait for each other.
    const subjects = [facilitatorSubject, ...settling].toSorted();
    await this.#db.query({
      name: "beat",
      text: `
        with own as (
          insert into copies (id) values ($2) on conflict (id) do update set last_beat_at = now()
        ), moment as (
          select (now() at time zone 'utc')::date as day,
                 extract(hour from now() at time zone 'utc')::int * 60 + extract(minute from now() at time zone 'utc')::int as minute
        )
        insert into alive_minutes as a (subject, day, minutes)
        select subject, day, set_bit(decode(repeat('00', 180), 'hex'), minute, 1)
          from moment cross join unnest($1::text[]) with ordinality as s (subject, place) order by place
        on conflict (subject, day) do update set minutes = set_bit(a.minutes, (select minute from moment), 1)`,
      values: [subjects, this.#id],
    });
    // High fees pass by themselves: only that the network did not settle is kept, not why.
    const down = causes.filter(({ cause }) => cause !== undefined && cause !== "fees too high");
    if (down.length === 0) return;
    await this.#db.query({
      name: "note-outage-causes",
      text: `
        insert into outage_causes (subject, hour, cause)
        select network, date_trunc('hour', now()), cause from unnest($1::text[], $2::text[]) as down (network, cause)
         order by network
        on conflict do nothing`,
      values: [down.map(({ network }) => network), down.map(({ cause }) => cause)],
    });
  }

  /** Counts a payment whose end the reconciler found. The reconciler does not wait for it. */
  countReconciled(network: string, outcome: string): void {
    this.#db
      .query({
        name: "count-reconciled",
        text: `
          insert into daily_reconciliations as d (network, day, outcome, payments)
          values ($1, (now() at time zone 'utc')::date, $2, 1)
          on conflict (network, day, outcome) do update set payments = d.payments + 1`,
        values: [network, outcome],
      })
      .catch((err) => this.#log.warn({ err }, "a reconciled payment was not counted"));
  }

  /** Deletes copies that are long gone, and what is older than `uptimeKeptDays`. */
  async sweep(): Promise<void> {
    await this.#db.query("delete from copies where last_beat_at < now() - interval '1 day'");
    await this.#db.query(`delete from alive_minutes where day < (now() at time zone 'utc')::date - ${uptimeKeptDays}`);
    await this.#db.query(`delete from outage_causes where hour < now() - interval '${uptimeKeptDays} days'`);
  }
}
