import type { Database } from "../../shared/postgres.ts";
import type { PaymentRequest } from "../schemes/scheme.ts";
import { readTerms, type Terms } from "./terms.ts";
import { type Declaration, digestOf, readAnnouncement } from "./validate.ts";

const offerLengthMax = 32_768;
const attemptsMax = 5;
const ageMax = "1 day";
/** Longer than an attempt takes; the next one waits longer. */
const firstLeaseSeconds = 20;

/** A payment's wish to be listed once it has settled. */
export interface Offer {
  readonly declaration: Declaration;
  readonly terms: Terms;
  /** Of announcement and terms together. */
  readonly digest: Buffer;
  readonly settledAt: Date;
}

/** An offer as it is kept with the payment. */
export interface StoredOffer {
  readonly digest: Buffer;
  readonly text: string;
}

/** What the caller of /settle wants listed, as it is to be stored; undefined when nothing can be listed. Never throws. */
export function offerOf(
  { announcement, requirements, version }: PaymentRequest,
  options: { allowLocalhost: boolean },
): StoredOffer | undefined {
  try {
    const declaration = announcement && readAnnouncement(announcement, options);
    const terms = readTerms(version === 1 ? { ...requirements, maxAmountRequired: requirements.amount } : requirements);
    if (!declaration || "rejectedReason" in declaration || !terms) return undefined;
    const text = JSON.stringify({ declaration: { ...declaration, input: undefined }, terms });
    return text.length <= offerLengthMax ? { digest: digestOf(declaration, terms), text } : undefined;
  } catch {
    // A payment is settled whatever is wrong with what came along.
    return undefined;
  }
}

/** Offers of settled payments that wait to be listed, shared by any number of daemons. */
export class OfferQueue {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Leases to this daemon the offer that is due the longest. What is not `done` when its lease ends is due again. */
  async take(): Promise<{ offer: Offer; last: boolean } | undefined> {
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
    return { offer: { digest, settledAt, ...readOffer(offer) }, last: attempts >= attemptsMax };
  }

  async done({ digest }: Offer): Promise<void> {
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

function readOffer(text: string): Pick<Offer, "declaration" | "terms"> {
  const { declaration, terms } = JSON.parse(text);
  return { declaration: { ...declaration, input: declaration.bazaar.info.input }, terms };
}
