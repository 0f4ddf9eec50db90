import type { PaymentRequirements } from "../../shared/x402.ts";
import { v1NameOf } from "./networks.ts";
import type { Offer } from "./offer.ts";
import { encodeHeader } from "./proof.ts";

/**
 * What a caller without a good payment is told: the body that the specification shows and the header that version 2
 * clients read. `error` says why this is the answer and not the result. Stock version 1 clients refuse a whole body for
 * one network they have no name for; `v1Names` gives them what they can read.
 */
export function quoteOf(offer: Offer, terms: readonly PaymentRequirements[], error: string, v1Names = false): Quote {
  const { url, description } = offer;
  const resource = { url, description, mimeType };
  const entries = v1Names ? terms.flatMap((entry) => withV1Name(entry) ?? []) : terms;
  return {
    body: {
      x402Version: 1,
      error,
      accepts: entries.map((entry) => ({
        ...entry,
        maxAmountRequired: entry.amount,
        resource: url,
        description,
        mimeType,
        outputSchema: { input: inputOf(offer), output: null },
      })),
    },
    header: encodeHeader({ x402Version: 2, error, resource, accepts: terms, extensions: { bazaar: bazaarOf(offer) } }),
  };
}

function withV1Name(entry: PaymentRequirements): PaymentRequirements | undefined {
  const network = v1NameOf(entry.network);
  return network === undefined || !entry.network.startsWith("eip155:") ? undefined : { ...entry, network };
}

interface Quote {
  readonly body: object;
  readonly header: string;
}

const mimeType = "application/json";

/** Version 1's description of the call. */
function inputOf({ input }: Offer): object {
  const bodyFields = (input.schema as { properties?: object }).properties ?? {};
  return { type: "http", method: "POST", discoverable: true, bodyType: "json", bodyFields };
}

/** The `bazaar` extension: an example of the call, and the schema that the example satisfies. */
function bazaarOf({ input }: Offer): object {
  const { $schema, ...body } = input.schema as { $schema?: string };
  const info = { input: { type: "http", method: "POST", bodyType: "json", body: input.example } };
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
