import { integerAt, isGiven, type JsonObject, objectAt, textAt } from "../shared/json.ts";
import { toCaip2 } from "../shared/networks.ts";
import { type PaymentRequirements, publicUrl, recordedResource, termsDigest } from "../shared/x402.ts";
import { type Announcement, announcementOfPayment } from "./discovery/announcement.ts";
import { type PaymentRequest, type Refusal, refuse } from "./schemes/scheme.ts";

/** A caller's body: the payment, and the resource that the caller wants listed with it, unread. */
export interface ReceivedPayment extends PaymentRequest {
  readonly announcement: Announcement | undefined;
}

/**
 * Body of /verify and /settle → ReceivedPayment, for both protocol versions. A body of the wrong shape throws
 * ApiError 400 naming the field; one that is well-formed and not acceptable is a Refusal.
 */
export function parsePaymentRequest(body: unknown): ReceivedPayment | Refusal {
  const envelope = objectAt(body, "", "Body");
  const payload = objectAt(envelope, "paymentPayload");
  const requirements = objectAt(envelope, "paymentRequirements");
  const version = integerAt(payload, "paymentPayload.x402Version");
  const declared = isGiven(envelope.x402Version) ? integerAt(envelope, "x402Version") : version;
  if (declared !== version) {
    return refuse("invalid_x402_version", `x402Version ${declared} of the body is not the payload's ${version}.`);
  }
  if (version !== 1 && version !== 2) {
    return refuse("invalid_x402_version", `x402Version ${version} is not supported; 1 and 2 are.`);
  }
  const terms = readRequirements(requirements, version);
  if ("refused" in terms) return terms;
  const scheme = objectAt(payload, "paymentPayload.payload");
  const asked = { ...terms, network: toCaip2(terms.network) };
  const resource = version === 2 ? resourceOf(payload) : requirements.resource;
  return {
    version,
    network: asked.network,
    networkAsGiven: terms.network,
    requirements: asked,
    accepted: version === 2 ? readAccepted(objectAt(payload, "paymentPayload.accepted")) : readV1Accepted(payload),
    payload: scheme,
    resourceUrl: recordedResource(resource),
    termsDigest: termsDigest(asked, publicUrl(resource)),
    announcement: announcementOfPayment(body),
  };
}

function readRequirements(given: JsonObject, version: 1 | 2): PaymentRequirements | Refusal {
  const at = (name: string) => textAt(given, `paymentRequirements.${name}`);
  const amountNames = version === 1 ? ["maxAmountRequired", "amount"] : ["amount"];
  const amounts = amountNames.filter((name) => isGiven(given[name])).map(at);
  const [amount = at(amountNames[0] as string), other] = amounts;
  if (other !== undefined && other !== amount) {
    return refuse("invalid_payment_requirements", "paymentRequirements.amount and .maxAmountRequired differ.");
  }
  const extra = isGiven(given.extra) ? objectAt(given, "paymentRequirements.extra") : undefined;
  return {
    scheme: at("scheme"),
    network: at("network"),
    amount,
    asset: at("asset"),
    payTo: at("payTo"),
    maxTimeoutSeconds: integerAt(given, "paymentRequirements.maxTimeoutSeconds"),
    ...(extra && { extra }),
  };
}

/** A missing field differs from the requirements, which the rules test; a field of the wrong type is a 400. */
function readAccepted(given: JsonObject): Partial<PaymentRequirements> {
  const at = "paymentPayload.accepted";
  const text = (name: string) => (isGiven(given[name]) ? { [name]: textAt(given, `${at}.${name}`) } : {});
  return {
    ...text("scheme"),
    ...text("amount"),
    ...text("asset"),
    ...text("payTo"),
    ...(isGiven(given.network) && { network: toCaip2(textAt(given, `${at}.network`)) }),
    ...(isGiven(given.maxTimeoutSeconds) && { maxTimeoutSeconds: integerAt(given, `${at}.maxTimeoutSeconds`) }),
    ...(isGiven(given.extra) && { extra: objectAt(given, `${at}.extra`) }),
  };
}

function readV1Accepted(payload: JsonObject): Partial<PaymentRequirements> {
  return {
    ...(payload.scheme !== undefined && { scheme: textAt(payload, "paymentPayload.scheme") }),
    ...(payload.network !== undefined && { network: toCaip2(textAt(payload, "paymentPayload.network")) }),
  };
}

function resourceOf(payload: JsonObject): unknown {
  const resource = payload.resource;
  return typeof resource === "object" && resource !== null ? (resource as JsonObject).url : resource;
}
