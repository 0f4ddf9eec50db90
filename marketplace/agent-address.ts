import { createHash } from "node:crypto";
import { ApiError } from "../shared/errors.ts";

const slugShape = /^[a-z0-9][a-z0-9-]{1,46}[a-z0-9]$/;
const toolNameLengthMax = 48;

/** A slug in its stored form, or a 422 that says what is allowed. */
export function parseSlug(text: string): string {
  const slug = text.trim().toLowerCase();
  if (slugShape.test(slug)) return slug;
  throw new ApiError("invalid_value", '"slug" must be 3 to 48 of a-z, 0-9 and -, and neither begin nor end with -.', {
    body: { field: "slug" },
  });
}

/** `Handle/Slug` as the key an agent is found by; undefined when no agent can have it. */
export function parseAddress(text: string): string | undefined {
  return /^[a-z0-9-]{1,64}\/[a-z0-9-]{1,64}$/i.test(text) ? text.toLowerCase() : undefined;
}

/** The agent's name as a tool: `handle--slug`, at most 48 characters, made unique by a hash where it must be cut. */
export function toolNameOf(handle: string, slug: string): string {
  return toolNamesOf(handle, slug)[0] as string;
}

/** The name of toolNameOf, then the names to use when it is taken: "ab--cd" with "ef" and "ab" with "cd--ef" join to one name. */
export function toolNamesOf(handle: string, slug: string): readonly string[] {
  const name = `${handle}--${slug}`;
  const hash = createHash("sha256").update(`${handle}/${slug}`).digest("hex");
  const cut = [6, 12, 24].map((digits) => `${name.slice(0, toolNameLengthMax - 1 - digits)}-${hash.slice(0, digits)}`);
  return name.length <= toolNameLengthMax ? [name, ...cut] : cut;
}
