import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Metrics } from "../metrics.ts";
import { type Offer, OfferQueue } from "./offers.ts";
import { askResource, lasting, type Problem, passing, type Quote, termsFor, type UnpaidFetch } from "./ownership.ts";
import { SchemaChecker } from "./schema-check.ts";
import { ListingStore } from "./store.ts";
import type { Terms } from "./terms.ts";
import { readAnnouncement } from "./validate.ts";

const everyMs = 500;
const workersMax = 8;
const sweepEveryMs = 3_600_000;

/**
 * Lists what was paid for, after and apart from the payment: takes what settled payments left in the queue, on any number
 * of daemons. An attempt that was interrupted or found nobody at home is made again, a few times.
 */
export class Catalog {
  readonly #needs: Needs;
  readonly #queue: OfferQueue;
  readonly #store: ListingStore;
  readonly #schemas = new SchemaChecker();
  readonly #sweeper: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  readonly #working = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#queue = new OfferQueue(needs.db);
    this.#store = new ListingStore(needs.db);
    this.#sweeper = setInterval(() => {
      Promise.all([this.#queue.sweep(), this.#store.sweep()]).catch((error) =>
        needs.log.error({ err: error }, "old listings were not removed"),
      );
    }, sweepEveryMs);
    this.#sweeper.unref();
  }

  start(): void {
    this.#timer = setInterval(() => this.#work(), everyMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#sweeper);
    clearInterval(this.#timer);
    await Promise.all(this.#working);
    await this.#schemas.stop();
  }

  /** One worker more each time while there is work; one that takes long holds up nobody else. */
  #work(): void {
    if (this.#working.size >= workersMax) return;
    const work = this.#listWaiting()
      .catch((error) => this.#needs.log.error({ err: error }, "listing was interrupted; it goes on in the next round"))
      .finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  async #listWaiting(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const taken = await this.#queue.take();
      if (!taken) return;
      await this.#list(taken.offer, taken.last);
    }
  }

  async #list(offer: Offer, last: boolean): Promise<void> {
    const { log, metrics } = this.#needs;
    if (await this.#store.refresh(offer)) {
      metrics.listings.add({ outcome: "refreshed" });
      return this.#queue.done(offer);
    }
    const verdict = await this.#check(offer);
    // Whatever a stop cut short says nothing about the offer.
    if (this.#stopping.signal.aborted && verdict) return;
    const facts = { resource: offer.declaration.key, payTo: offer.terms.payTo, ...verdict };
    if (verdict?.passing && !last) {
      metrics.listings.add({ outcome: "put-off" });
      return log.info({ event: "listing-put-off", ...facts });
    }
    metrics.listings.add({ outcome: verdict ? "refused" : "listed" });
    log.info({ event: verdict ? "listing-refused" : "listed", ...facts });
    await this.#queue.done(offer);
  }

  /** Lists the offer, or says why not. The budget comes first: the rest makes requests and takes time. */
  async #check(offer: Offer): Promise<Problem | undefined> {
    const { fetchUnpaid } = this.#needs;
    if (!(await this.#store.takeBudget(offer.terms.payTo)))
      return passing("too many catalog operations of this wallet");
    const quote = fetchUnpaid && (await askResource(fetchUnpaid, offer.declaration, this.#stopping.signal));
    if (quote && "problem" in quote) return quote;
    const listing = this.#listingOf(offer, quote);
    if ("problem" in listing) return listing;
    const objection = fetchUnpaid && (await this.#objection(fetchUnpaid, listing));
    if (objection) return objection;
    const problem = (await this.#schemas.check(listing.declaration.bazaar)) ?? (await this.#store.put(listing));
    return problem === undefined ? undefined : lasting(problem);
  }

  /** On a host of many sellers each path answers for itself only: the path a template began with must agree too. */
  async #objection(fetchUnpaid: UnpaidFetch, listing: Listing): Promise<Problem | undefined> {
    const probeUrl = await this.#store.pathOfOthers(listing);
    if (probeUrl === undefined) return undefined;
    const quote = await askResource(fetchUnpaid, { ...listing.declaration, probeUrl }, this.#stopping.signal);
    if ("problem" in quote) return quote;
    return termsFor(quote, listing.terms) ? undefined : lasting("the listing is of other wallets");
  }

  /** What the resource says of itself goes before what its payer said; without a probe there is only the latter. */
  #listingOf(offer: Offer, quote: Quote | undefined): Listing | Problem {
    if (!quote) return { ...offer, stillAccepted: undefined };
    const terms = termsFor(quote, offer.terms);
    if (!terms) return lasting("the resource does not name this wallet");
    const { declaration } = offer;
    const own =
      quote.announcement && readAnnouncement({ ...quote.announcement, url: declaration.probeUrl }, this.#needs);
    if (own && "rejectedReason" in own) return lasting(own.rejectedReason);
    return { ...offer, declaration: own ?? declaration, terms, stillAccepted: quote.accepts };
  }
}

interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined: listings are believed as claimed (development). */
  readonly fetchUnpaid: UnpaidFetch | undefined;
  readonly allowLocalhost: boolean;
}

export interface Listing extends Offer {
  /** All the resource accepts now; undefined when it was not asked. */
  readonly stillAccepted: readonly Terms[] | undefined;
}
