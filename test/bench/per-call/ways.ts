import type { HederaTerms } from "../../support/hedera-payments.ts";
import { encodeHeader, type Proof } from "../../support/pay-call.ts";
import { type Figures, inTurn, measure, poster } from "../load.ts";
import { instantRun } from "../marketplace/instant-run.ts";

/** One way to have `count` calls paid for and run, `inFlight` at once. */
export type Way = (network: string, count: number, inFlight: number) => Promise<Figures>;

/** Where a call can be bought: ours, and the peer's. */
export interface Shop {
  readonly url: string;
  readonly path: string;
  readonly quote: Pick<Proof, "resource" | "extensions"> & { readonly accepts: readonly HederaTerms[] };
}

/** By network, how a payment of these requirements is signed; `n` chooses the payer. */
export type Signers = Readonly<Record<string, (accepted: HederaTerms, n: number) => Promise<object>>>;

export const callInput = { text: "hello" };

/** Buys the calls of a shop. */
export function buyingAt(shop: Shop, signers: Signers): Way {
  return async (network, count, inFlight) => {
    const payments = (await paymentsFor(shop, signers, network, count)).map((payment) => encodeHeader(payment));
    const { post, close } = poster(shop.url, inFlight);
    const body = JSON.stringify(callInput);
    const isGood = ({ success }: Record<string, unknown>) => success === true;
    const figures = await measure(
      payments.map((payment) => () => post(shop.path, body, isGood, { "payment-signature": payment })),
      inFlight,
    );
    await close();
    return figures;
  };
}

/** What a call cannot do without: verify, run, settle, and nothing between them. */
export function partsAsOneChain(facilitatorUrl: string, shop: Shop, signers: Signers): Way {
  return async (network, count, inFlight) => {
    const bodies = await bodiesFor(shop, signers, network, count);
    const { post, close } = poster(facilitatorUrl, inFlight);
    const figures = await measure(
      bodies.map((payment) => async () => {
        const verified = await post("/verify", payment, isValid);
        await instantRun();
        return verified && post("/settle", payment, isSettled);
      }),
      inFlight,
    );
    await close();
    return figures;
  };
}

/** Each part by itself, all payments before the next part, and what they take together. */
export function partsByThemselves(facilitatorUrl: string, shop: Shop, signers: Signers): Way {
  return async (network, count, inFlight) => {
    const bodies = await bodiesFor(shop, signers, network, count);
    const { post, close } = poster(facilitatorUrl, inFlight);
    const parts = [
      (payment: string) => post("/verify", payment, isValid),
      async () => Boolean(await instantRun()),
      (payment: string) => post("/settle", payment, isSettled),
    ];
    const each: Figures[] = [];
    for (const part of parts) {
      each.push(
        await measure(
          bodies.map((payment) => () => part(payment)),
          inFlight,
        ),
      );
    }
    await close();
    return inTurn(each);
  };
}

const isValid = (reply: Record<string, unknown>) => reply.isValid === true;
const isSettled = (reply: Record<string, unknown>) => reply.success === true;

async function bodiesFor(shop: Shop, signers: Signers, network: string, count: number): Promise<string[]> {
  const payments = await paymentsFor(shop, signers, network, count);
  return payments.map((paymentPayload) =>
    JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted }),
  );
}

async function paymentsFor({ quote }: Shop, signers: Signers, network: string, count: number): Promise<Proof[]> {
  const { resource, extensions, accepts } = quote;
  const accepted = accepts.find((entry) => entry.network === network)!;
  const echoed = { resource, ...(extensions && { extensions }) };
  const payments: Proof[] = [];
  for (let n = 0; n < count; n += 1) {
    payments.push({ x402Version: 2, ...echoed, accepted, payload: await signers[network]!(accepted, n) });
  }
  return payments;
}
