import type { Database } from "../../shared/postgres.ts";
import type { PaymentRequirements } from "../../shared/x402.ts";
import type { Announcement } from "./announcement.ts";
import { type AcceptedRequirements, readAcceptedRequirements } from "./payment-requirements.ts";
import { type Declaration, digestOf, readAnnouncement } from "./validate.ts";

const requestLengthMax = 32_768;
const attemptsMax = 5;
const ageMax = "1 day";
/** Longer than an attempt takes, its wait for the schemas of others included; the next one waits longer. */
const firstLeaseSeconds = 45;

/** A payment's wish to be listed once it has settled. */
export interface ListingRequest {
  readonly declaration: Declaration;
  readonly requirements: AcceptedRequirements;
  /** Digest of announcement and terms together. */
  readonly digest: Buffer;
  readonly settledAt: Date;
}

/** An offer as it is kept with the payment. */
export interface StoredListingRequest {
  readonly digest: Buffer;
  readonly text: string;
}

/** What the caller of /settle wants listed, as it is to be stored; undefined when nothing can be listed. Never throws. */
export function listingRequestOf(
  { announcement, requirements, version }: Settling,
  options: { allowLocalhost: boolean },
): StoredListingRequest | undefined {
  try {
    const declaration = announcement && readAnnouncement(announcement, options);
    const listed = readAcceptedRequirements(
      version === 1 ? { ...requirements, maxAmountRequired: requirements.amount } : requirements,
    );
    if (!declaration || "rejectedReason" in declaration || !listed) return undefined;
    const text = JSON.stringify({ declaration: { ...declaration, input: undefined }, terms: listed });
    return text.length <= requestLengthMax ? { digest: digestOf(declaration, listed), text } : undefined;
  } catch {
    // A payment is settled even if its extension cannot be read.
    return undefined;
  }
}

/** The part of a request to settle that says what to list. */
interface Settling {
  readonly version: 1 | 2;
  readonly requirements: PaymentRequirements;
  readonly announcement: Announcement | undefined;
}

/** Offers of settled payments that wait to be listed, shared by any number of daemons. */
export class ListingRequestQueue {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Leases to this daemon the offer that is due the longest. What is not `done` when its lease ends is due again. */
  async take(): Promise<{ request: ListingRequest; last: boolean } | undefined> {
    const { rows } = await this.#db.query({
      name: "take-offer",
      text: `
        update discovery_offers
           set attempts = attempts + 1, lease_until = now() + make_interval(secs => $2 * (attempts + 1) * (attempts + 1))
         where digest = (select digest from discovery_offers
                          where lease_until <= now() and attempts < $1 and offered_at > now() - $3::interval
                          order by lease_until limit 1 for update skip locked)
        returning digest, offer, attempts, offered_at`,
      values: [attemptsMax, firstLeaseSeconds, ageMax],
    });
    if (!rows[0]) return undefined;
    const { digest, offer, attempts, offered_at: settledAt } = rows[0];
    return { request: { digest, settledAt, ...readListingRequest(offer) }, last: attempts >= attemptsMax };
  }

  async done({ digest }: ListingRequest): Promise<void> {
    await this.#db.query({
      name: "offer-done",
      text: "delete from discovery_offers where digest = $1",
      values: [digest],
    });
  }

  /** Gives up on what was tried often enough or has waited too long. */
  async sweep(): Promise<void> {
    await this.#db.query(
      `delete from discovery_offers
        where lease_until < now() and (attempts >= $1 or offered_at < now() - $2::interval)`,
      [attemptsMax, ageMax],
    );
  }
}

function readListingRequest(text: string): Pick<ListingRequest, "declaration" | "requirements"> {
  const { declaration, terms } = JSON.parse(text);
  return { declaration: { ...declaration, input: declaration.bazaar.info.input }, requirements: terms };
}
