import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { type ListingRequest, ListingRequestQueue } from "./listing-requests.ts";
import { askResource, type PaymentRequired, type Problem, permanent, requirementsFor, transient } from "./ownership.ts";
import { SchemaChecker } from "./schema-check.ts";
import { type Listing, ListingStore } from "./store.ts";
import type { UnpaidFetch } from "./unpaid-fetch.ts";
import { characterProblem, readAnnouncement } from "./validate.ts";

const workersMax = 8;

/**
 * Lists what was paid for, after and apart from the payment: takes what settled payments left in the queue, on any number
 * of daemons. An attempt that was interrupted or found the resource's server away is made again, a few times.
 */
export class Catalog {
  readonly #needs: Needs;
  readonly #queue: ListingRequestQueue;
  readonly #store: ListingStore;
  readonly #schemas = new SchemaChecker();
  readonly #working = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#queue = new ListingRequestQueue(needs.db);
    this.#store = new ListingStore(needs.db);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
    await this.#schemas.stop();
  }

  /** Begins to list what waits, with one worker more each time while there is work: a slow one holds up no other. */
  work(): void {
    if (this.#working.size >= workersMax) return;
    const work = this.#listWaiting()
      .catch((error) => this.#needs.log.error({ err: error }, "listing was interrupted; it goes on in the next round"))
      .finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  /** Deletes what no answer shows any more. */
  async sweep(): Promise<void> {
    await Promise.all([this.#queue.sweep(), this.#store.sweep()]);
  }

  async #listWaiting(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const taken = await this.#queue.take();
      if (!taken) return;
      await this.#list(taken.request, taken.last);
    }
  }

  async #list(request: ListingRequest, last: boolean): Promise<void> {
    const { log, countListing } = this.#needs;
    if (await this.#store.refresh(request)) {
      countListing("refreshed");
      return this.#queue.done(request);
    }
    const verdict = await this.#check(request);
    // What a stop cut short says nothing about the request.
    if (this.#stopping.signal.aborted && verdict) return;
    const facts = { resource: request.declaration.key, payTo: request.requirements.payTo, ...verdict };
    if (verdict?.transient && !last) {
      countListing("put-off");
      return log.info({ event: "listing-put-off", ...facts });
    }
    countListing(verdict ? "refused" : "listed");
    log.info({ event: verdict ? "listing-refused" : "listed", ...facts });
    await this.#queue.done(request);
  }

  /** Lists the request, or says why not. The budget comes first: the rest makes requests and takes time. */
  async #check(request: ListingRequest): Promise<Problem | undefined> {
    const { fetchUnpaid } = this.#needs;
    if (!(await this.#store.takeBudget(request)))
      return transient("too many catalog operations of this wallet on this host");
    const required = fetchUnpaid && (await askResource(fetchUnpaid, request.declaration, this.#stopping.signal));
    if (required && "problem" in required) return required;
    const listing = this.#listingOf(request, required);
    if ("problem" in listing) return listing;
    const unstorable = characterProblem("accepts", listing.requirements);
    if (unstorable) return permanent(unstorable);
    const path = fetchUnpaid && (await this.#store.pathOfOthers(listing));
    const objection = fetchUnpaid && path !== undefined && (await this.#objection(fetchUnpaid, listing, path));
    if (objection) return objection;
    return (await this.#checkSchema(listing)) ?? (await this.#store.put(listing, path));
  }

  /** A schema that takes too much keeps all others waiting, so its seller does that once an hour. */
  async #checkSchema(listing: Listing): Promise<Problem | undefined> {
    const checked = await this.#schemas.check(listing.declaration.bazaar, () => this.#store.isPutOff(listing));
    if (checked === "fits") return undefined;
    if (checked === "left out") return transient("another schema of this wallet on this host took too much to check");
    if (checked === "takes too much") await this.#store.putOff(listing);
    return permanent(checked === "takes too much" ? `bazaar.schema ${checked} to check` : checked.misfit);
  }

  /** On a host of many sellers each path answers for itself only: the path a template began with must agree too. */
  async #objection(fetchUnpaid: UnpaidFetch, listing: Listing, probeUrl: string): Promise<Problem | undefined> {
    const required = await askResource(fetchUnpaid, { ...listing.declaration, probeUrl }, this.#stopping.signal);
    if ("problem" in required) return required;
    return requirementsFor(required, listing.requirements) ? undefined : permanent("the listing is of other wallets");
  }

  /**
   * The listing, from what the resource says of itself and never from what its payer said: any payer can pay a wallet in a stranger's
   * name. Without a probe only the payer has said something.
   */
  #listingOf(request: ListingRequest, required: PaymentRequired | undefined): Listing | Problem {
    if (!required) return { ...request, stillAccepted: undefined };
    const requirements = requirementsFor(required, request.requirements);
    if (!requirements) return permanent("the resource does not name this wallet");
    if (!required.announcement) return permanent("its quote does not agree to be listed");
    const declaration = readAnnouncement({ ...required.announcement, url: request.declaration.probeUrl }, this.#needs);
    if ("rejectedReason" in declaration) return permanent(declaration.rejectedReason);
    return { ...request, declaration, requirements, stillAccepted: required.accepts };
  }
}

interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly countListing: (outcome: "listed" | "refreshed" | "put-off" | "refused") => void;
  /** Undefined: listings are believed as claimed (development). */
  readonly fetchUnpaid: UnpaidFetch | undefined;
  readonly allowLocalhost: boolean;
}
