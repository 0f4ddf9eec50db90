import { v1NameOf } from "../../../shared/networks.ts";
import type { PaymentRequirements } from "../../../shared/x402.ts";
import { encodeHeader } from "../payment-payload.ts";
import { proofShape } from "../proof-shape.ts";
import { type SignInRequest, signInChallenge, signInExtension } from "../sign-in-with-x.ts";
import type { Offer } from "./offer.ts";
import type { QuoteIds } from "./quote-id.ts";
import { toldInEntryMax, toldInHeaderMax, toldInput } from "./told-input.ts";

/**
 * The answer to a caller without a good payment: the body that the specification shows and the header that version 2 clients
 * read, each entry with the id of this quote for that version (quote-id.ts). Stock version 1 clients refuse a whole body for one
 * network they have no name for; `v1Names` gives them what they can read.
 */
export function paymentRequired(
  quoteIds: QuoteIds,
  offer: Offer,
  requirements: readonly PaymentRequirements[],
  why: Why,
): Quote {
  const { product } = offer;
  const { error, bodyDigest, signIn, v1Names = false, isMalformed = false, publicUrl } = why;
  const resource = resourceOf(offer);
  const { url, ...about } = resource;
  const named = requirements.map((entry) => withQuoteId(entry, quoteIds.ofBody({ ...entry, product }, bodyDigest)));
  const entries = v1Names ? named.flatMap((entry) => withV1Name(entry) ?? []) : named;
  const shown = signIn && { [signInExtension]: signInChallenge(signIn) };
  const accepts = acceptsOf(quoteIds, offer, requirements, signIn);
  const header = { x402Version: 2, error, resource, accepts, extensions: { bazaar: bazaarOf(offer), ...shown } };
  return {
    body: {
      x402Version: 1,
      error,
      accepts: entries.map((entry) => ({
        ...entry,
        maxAmountRequired: entry.amount,
        resource: url,
        ...about,
        outputSchema: { input: inputOf(offer), output: null },
      })),
      ...(shown && { extensions: shown }),
      ...(isMalformed && { proof: proofShape(requirements.map(({ network }) => network)) }),
      guide: `${publicUrl}/llms.txt`,
      catalog: `${publicUrl}${catalogPath}`,
    },
    header: encodeHeader(header),
  };
}

/** A version 2 quote's entries; the chain on which a wallet is to be shown first, since stock clients sign for the first one. */
export function acceptsOf(
  quoteIds: QuoteIds,
  { product }: Offer,
  requirements: readonly PaymentRequirements[],
  signIn: SignInRequest | undefined,
): readonly PaymentRequirements[] {
  const ordered = requirements.toSorted(
    (a, b) => Number(b.network === signIn?.network) - Number(a.network === signIn?.network),
  );
  return ordered.map((entry) => withQuoteId(entry, quoteIds.issue({ ...entry, product })));
}

/** Why this is the answer and not the result, and to what. */
interface Why {
  readonly error: string;
  /** SHA-256 of the body that is quoted. */
  readonly bodyDigest: Buffer;
  /** A wallet to be shown for the payment that came. */
  readonly signIn?: SignInRequest | undefined;
  readonly v1Names?: boolean;
  /** A payment came that is not in the form that it must have. */
  readonly isMalformed?: boolean;
  readonly publicUrl: string;
}

/** Where all that is paid per call is listed. */
export const catalogPath = "/api/x402/catalog";

const withQuoteId = (entry: PaymentRequirements, quoteId: string): PaymentRequirements => {
  return { ...entry, extra: { ...entry.extra, quoteId } };
};

function withV1Name(entry: PaymentRequirements): PaymentRequirements | undefined {
  const network = v1NameOf(entry.network);
  return network === undefined || !entry.network.startsWith("eip155:") ? undefined : { ...entry, network };
}

interface Quote {
  readonly body: object;
  readonly header: string;
}

/** The resource that is paid for, as every quote names it. */
export function resourceOf({ url, resource = url, description }: Offer) {
  return { url: resource, description, mimeType: "application/json" } as const;
}

/** Version 1's description of the call. */
function inputOf({ input }: Offer): object {
  const { schema } = toldInput(input, toldInEntryMax);
  const bodyFields = (schema as { properties?: object }).properties ?? {};
  return { type: "http", method: "POST", discoverable: true, bodyType: "json", bodyFields };
}

/** The `bazaar` extension: an example of the call, and the schema that the example satisfies, as far as a header has room for them. */
function bazaarOf({ input, description }: Offer): object {
  const told = toldInput(input, toldInHeaderMax - Buffer.byteLength(description));
  const { $schema, ...body } = told.schema as { $schema?: string };
  const info = { input: { type: "http", method: "POST", bodyType: "json", body: told.example } };
  const schema = {
    $schema,
    type: "object",
    properties: {
      input: {
        type: "object",
        properties: {
          type: { type: "string", const: "http" },
          method: { type: "string", enum: ["POST"] },
          bodyType: { type: "string", enum: ["json"] },
          body,
        },
        required: ["type", "method", "bodyType", "body"],
      },
    },
    required: ["input"],
  };
  return { info, schema };
}
