import { ApiError } from "../../shared/errors.ts";

const shape = /^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$/;

const field = { body: { field: "handle" } };

/** Words that paths, pages and tools of the marketplace itself use. */
const reserved = new Set(
  `about account accounts activity admin agent agents api app assets auth billing blog build categories category
  compare consent creator creators credits dashboard docs error explore facilitator favicon figures files health
  help home image images imprint internal keys kit legal livez llms login logout marketplace mcp me metrics new openapi
  operator pay payment payments platform playground pricing privacy proof public readyz receipt receipts report resources
  robots root run runs search security settings settlements sign-in sign-out sign-up signin signout signup sitemap
  static stats status storefront studio support svg system tag tags terms transactions tx user users wallet
  wallets webhook well-known workspace www x402`.split(/\s+/),
);

/** A creator's or customer's handle in its stored form, or a 422 that says what is allowed. */
export function parseHandle(text: string): string {
  const handle = text.trim().toLowerCase();
  if (!shape.test(handle)) {
    throw new ApiError(
      "invalid_value",
      '"handle" must be 3 to 30 of a-z, 0-9 and -, and neither begin nor end with -.',
      field,
    );
  }
  if (reserved.has(handle)) throw new ApiError("invalid_value", `The handle "${handle}" is reserved.`, field);
  return handle;
}
