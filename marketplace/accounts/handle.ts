import { ApiError } from "../../shared/errors.ts";

const shape = /^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$/;

/** Words that paths, pages and tools of the marketplace itself use. */
const reserved = new Set(
  `about account accounts admin agent agents api app assets auth billing blog build credits dashboard docs explore
  facilitator files health help home image images internal keys legal llms login logout marketplace mcp me metrics
  openapi operator pay payment payments platform pricing privacy public root run runs search security settings sign-in
  sign-up signin signout signup static status storefront support svg system terms user users wallet wallets webhook
  workspace www x402`.split(/\s+/),
);

/** A creator's or customer's handle in its stored form, or a 422 that says what is allowed. */
export function parseHandle(text: string): string {
  const handle = text.trim().toLowerCase();
  if (!shape.test(handle)) {
    throw new ApiError(
      "invalid_value",
      '"handle" must be 3 to 30 of a-z, 0-9 and -, and neither begin nor end with -.',
    );
  }
  if (reserved.has(handle)) throw new ApiError("invalid_value", `The handle "${handle}" is reserved.`);
  return handle;
}
