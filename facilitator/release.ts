import { ApiError } from "../shared/errors.ts";
import { objectAt, textAt } from "../shared/json.ts";
import { type HoldStore, isHoldId } from "./holds/store.ts";

/**
 * POST /release {holdId}: gives up one verification, so that its payer can spend the money otherwise at once. What other
 * verifiers of the same payment hold stays, and so does what is being settled. Throws ApiError 400 on a malformed body.
 */
export async function release({ holds }: ReleaseNeeds, body: unknown): Promise<Released> {
  const holdId = textAt(objectAt(body, "", "Body"), "holdId");
  if (!isHoldId(holdId)) {
    throw new ApiError("bad_request", "holdId is not one that /verify gave.", { body: { field: "holdId" } });
  }
  return { released: await holds.release(holdId) };
}

export interface ReleaseNeeds {
  readonly holds: HoldStore;
}

export interface Released {
  /** False when it was over already, or never there. */
  readonly released: boolean;
}
