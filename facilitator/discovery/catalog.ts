import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Metrics } from "../metrics.ts";
import type { PaymentRequest } from "../schemes/scheme.ts";
import { askResource, type Quote, termsFor, type UnpaidFetch } from "./ownership.ts";
import { SchemaChecker } from "./schema-check.ts";
import { ListingStore } from "./store.ts";
import { readTerms, type Terms } from "./terms.ts";
import { type Declaration, digestOf, readAnnouncement } from "./validate.ts";

const gatherMs = 200;
const waitingMax = 1_000;
const workersMax = 8;
const sweepEveryMs = 3_600_000;

/**
 * Lists what was paid for, after and apart from the payment: `offer` returns at once and never throws, everything else
 * happens in the background, and what fails there ends in the log. A listing lost that way comes with the next payment.
 */
export class Catalog {
  readonly #needs: Needs;
  readonly #store: ListingStore;
  readonly #schemas = new SchemaChecker();
  readonly #sweeper: NodeJS.Timeout;
  /** Payments of one resource that wait together are listed together. */
  readonly #waiting = new Map<string, Offer>();
  #timer: NodeJS.Timeout | undefined;
  readonly #working = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#store = new ListingStore(needs.db);
    this.#sweeper = setInterval(() => {
      this.#store.sweep().catch((error) => needs.log.error({ err: error }, "old listings were not removed"));
    }, sweepEveryMs);
    this.#sweeper.unref();
  }

  /** To be called once the payment has settled. */
  offer({ announcement, requirements, version }: PaymentRequest): void {
    if (!announcement || this.#stopping.signal.aborted || this.#waiting.size >= waitingMax) return;
    try {
      const declaration = readAnnouncement(announcement, this.#needs);
      const terms = readTerms(
        version === 1 ? { ...requirements, maxAmountRequired: requirements.amount } : requirements,
      );
      if ("rejectedReason" in declaration || !terms) return;
      const digest = digestOf(declaration, terms);
      this.#waiting.set(digest.toString("hex"), { declaration, terms, digest });
      this.#timer ??= setTimeout(() => this.#work(), gatherMs);
    } catch (error) {
      this.#needs.log.error({ err: error }, "a resource could not be offered to the catalog");
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#sweeper);
    clearTimeout(this.#timer);
    this.#waiting.clear();
    await Promise.all(this.#working);
    await this.#schemas.stop();
  }

  /** As many at once as there is work for; one that takes long holds up nobody else. */
  #work(): void {
    this.#timer = undefined;
    for (let more = this.#waiting.size; more > 0 && this.#working.size < workersMax; more -= 1) {
      const work = this.#listWaiting().finally(() => this.#working.delete(work));
      this.#working.add(work);
    }
  }

  async #listWaiting(): Promise<void> {
    for (const [id, offer] of this.#waiting) {
      this.#waiting.delete(id);
      await this.#list(offer).catch((error) =>
        this.#needs.log.error({ err: error, resource: offer.declaration.key }, "a resource could not be listed"),
      );
    }
  }

  async #list(offer: Offer): Promise<void> {
    const { log, metrics } = this.#needs;
    if (await this.#store.refresh(offer)) return metrics.listings.add({ outcome: "refreshed" });
    const problem = await this.#check(offer);
    const facts = { resource: offer.declaration.key, payTo: offer.terms.payTo };
    metrics.listings.add({ outcome: problem === undefined ? "listed" : "refused" });
    if (problem === undefined) log.info({ event: "listed", ...facts });
    else log.info({ event: "listing-refused", ...facts, problem });
  }

  /** Lists the offer, or says why not. The budget comes first: the rest makes requests and takes time. */
  async #check(offer: Offer): Promise<string | undefined> {
    const { fetchUnpaid } = this.#needs;
    if (!(await this.#store.takeBudget(offer.terms.payTo))) return "too many catalog operations of this wallet";
    const listing = this.#listingOf(
      offer,
      fetchUnpaid && (await askResource(fetchUnpaid, offer.declaration, this.#stopping.signal)),
    );
    if (typeof listing === "string") return listing;
    if (fetchUnpaid && !(await this.#mayJoin(fetchUnpaid, listing))) return "the listing is of other wallets";
    return (await this.#schemas.check(listing.declaration.bazaar)) ?? (await this.#store.put(listing));
  }

  /** On a host of many sellers each path answers for itself only: the path a template began with must agree too. */
  async #mayJoin(fetchUnpaid: UnpaidFetch, listing: Listing): Promise<boolean> {
    const probeUrl = await this.#store.pathOfOthers(listing);
    if (probeUrl === undefined) return true;
    const quote = await askResource(fetchUnpaid, { ...listing.declaration, probeUrl }, this.#stopping.signal);
    return typeof quote !== "string" && termsFor(quote, listing.terms) !== undefined;
  }

  /** What the resource says of itself goes before what its payer said; without a probe there is only the latter. */
  #listingOf(offer: Offer, quote: Quote | string | undefined): Listing | string {
    if (typeof quote === "string") return quote;
    if (!quote) return { ...offer, stillAccepted: undefined };
    const terms = termsFor(quote, offer.terms);
    if (!terms) return "the resource does not name this wallet";
    const { declaration } = offer;
    const own =
      quote.announcement && readAnnouncement({ ...quote.announcement, url: declaration.probeUrl }, this.#needs);
    if (own && "rejectedReason" in own) return own.rejectedReason;
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

/** A settled payment's wish to be listed. */
export interface Offer {
  readonly declaration: Declaration;
  readonly terms: Terms;
  /** Of announcement and terms together. */
  readonly digest: Buffer;
}

export interface Listing extends Offer {
  /** All the resource accepts now; undefined when it was not asked. */
  readonly stillAccepted: readonly Terms[] | undefined;
}
