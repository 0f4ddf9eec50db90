import { NetworkAwayError, networkUnavailable, type Payment, type Refusal, type Scheme } from "../schemes/scheme.ts";
import { isSamePayment, type PaymentRecord } from "./payment-record.ts";

/**
 * What /settle says of a payment that is refused. One that is too late may have been settled in time, and the database has
 * forgotten it, as after a failover: then the chain still knows of it. Throws ApiError 503 when the chain cannot say.
 */
export async function refusalOfLate(scheme: Scheme, payment: Payment, refusal: Refusal): Promise<Refusal> {
  return (refusal.late ? await refusalOfSettled(scheme, payment) : undefined) ?? refusal;
}

/**
 * The refusal that says that the chain has settled a payment, or that something else used it up. Undefined when the chain has nothing of
 * it, and for a payment that its payer did not sign. Throws ApiError 503 when the chain cannot say.
 */
async function refusalOfSettled(scheme: Scheme, payment: Payment): Promise<Refusal | undefined> {
  try {
    return (await scheme.checkSignature(payment)) ? undefined : await scheme.findSettled(payment);
  } catch (cause) {
    if (!(cause instanceof NetworkAwayError)) throw cause;
    const message = `${scheme.network} cannot be asked whether this payment was settled; try again later.`;
    throw networkUnavailable(message, cause);
  }
}

/** That the chain has settled a payment since it failed: it is the one on record, and nothing else is asked about. */
export async function refusalOfLanded(
  scheme: Scheme,
  payment: Payment,
  record: PaymentRecord,
): Promise<Refusal | undefined> {
  if (!isSamePayment(record, payment)) return undefined;
  const settled = await refusalOfSettled(scheme, payment);
  return settled?.transaction ? settled : undefined;
}
