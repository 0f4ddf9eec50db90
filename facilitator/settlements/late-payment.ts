import { NetworkAwayError, networkUnavailable, type Payment, type Refusal, type Scheme } from "../schemes/scheme.ts";

/**
 * What /settle says of a payment that is refused. One that is too late may have been settled in time, and the database has
 * forgotten it, as after a failover: then the chain still knows of it. Throws ApiError 503 when the chain cannot say.
 */
export async function refusalOfLate(scheme: Scheme, payment: Payment, refusal: Refusal): Promise<Refusal> {
  if (!refusal.late) return refusal;
  try {
    if (await scheme.checkSignature(payment)) return refusal;
    return (await scheme.findSettled(payment)) ?? refusal;
  } catch (cause) {
    if (!(cause instanceof NetworkAwayError)) throw cause;
    const message = `${scheme.network} cannot be asked whether this payment was settled in time; try again later.`;
    throw networkUnavailable(message, cause);
  }
}
