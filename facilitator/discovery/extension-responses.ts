import type { JsonObject } from "../../shared/json.ts";
import { announcementOfPayment } from "./announcement.ts";
import { readAnnouncement } from "./validate.ts";

/**
 * The EXTENSION-RESPONSES header of /verify and /settle: tells the resource server, not the buyer, what becomes of the
 * listing it asked for. `processing` is all that can be said at once, since listing comes after and apart from payment.
 * Undefined when no extension was sent, or nothing settled that could be listed. Never throws.
 */
export function extensionResponses(
  body: unknown,
  paid: boolean,
  options: { allowLocalhost: boolean },
): string | undefined {
  try {
    if ((body as { paymentPayload?: JsonObject } | null)?.paymentPayload?.x402Version !== 2) return undefined;
    const announcement = announcementOfPayment(body);
    const declaration = announcement && readAnnouncement(announcement, options);
    if (declaration && "rejectedReason" in declaration) return encode({ status: "rejected", ...declaration });
    return declaration && paid ? encode({ status: "processing" }) : undefined;
  } catch {
    // A settled payment is answered as settled even if its extension cannot be read.
    return undefined;
  }
}

const encode = (bazaar: object) => Buffer.from(JSON.stringify({ bazaar })).toString("base64");
