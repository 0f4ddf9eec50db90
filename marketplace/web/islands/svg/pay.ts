import { byId } from "../dom/elements.ts";
import { AnswerError, errorOf, UnreachableError } from "../payment/answer.ts";
import { PaymentCard } from "../payment/card.ts";
import { closePayment, endPayment, usedSaid, withoutCode } from "../payment/end-payment.ts";
import { findKept, type KeptPayment, keep } from "../payment/kept.ts";
import { usdc, usdcOf } from "../payment/money.ts";
import { type Delivered, postPayment } from "../payment/post-payment.ts";
import { signPayment } from "../payment/sign-payment.ts";
import type { PaymentView } from "../payment/view.ts";
import type { ChosenWallet } from "../payment/wallet-panel.ts";
import { AskFailedError, type Made } from "./ask.ts";
import type { Order } from "./bench.ts";
import { type Product, products } from "./paid-products.ts";
import { base64Of } from "./picture.ts";
import { pictureIn, type UnderWay } from "./under-way.ts";

const card = new PaymentCard(() => byId("bench-payment"), false);
const view: PaymentView = {
  payment: (kept, told, end) => card.show(kept, told, end),
  noPayment: () => card.remove(),
  wait: () => {},
};

/** Has the wallet pay for a drawing, at the price shown or not at all. Throws AskFailedError. */
export async function payForDrawing(order: Order, price: number, by: ChosenWallet): Promise<Made> {
  const product = productOf(order);
  refuseWhatNeedsAnAccount(order);
  const { hd: _, ...settings } = order.settings as { hd?: true };
  const image = order.picture && (await base64Of(order.picture.blob));
  const body = JSON.stringify({ ...settings, ...(image && { image }) });
  // A drawing that is paid for and not here yet comes first: no second payment is made beside it.
  const { payment: unended } = findKept(product);
  if (unended) return deliver(product, unended.isOwed ? keptFor(product, { ...unended, body }) : unended, true);
  const agreesTo = async (credits: number) => {
    if (credits <= price) return true;
    throw notPaid(`The price rose to ${usdcOf(credits)}. Reload the page to see it.`);
  };
  const purchase = { url: urlOf(product), body, input: {}, ...(image && { priced: "{}" }), agreesTo, view, ...by };
  const signed = await signPayment(purchase).catch((error: unknown) => madeForNothing(error));
  if ("svg" in signed) return signed;
  if ("title" in signed) throw notPaid(signed.said, signed.title);
  return deliver(product, keptFor(product, signed), false);
}

function keptFor(product: Product, { isOwed: _, ...payment }: KeptPayment): KeptPayment {
  try {
    keep(product, { payment });
    return payment;
  } catch {
    card.remove();
    throw notPaid("The browser cannot keep it. Use a smaller picture.");
  }
}

/**
 * A payment of this tab whose answer was not here yet, and what it is for; with `draws` one that is for a drawing from words, or for
 * a trace. One whose drawing failed is for whatever is asked next.
 */
export function paymentUnderWay(draws?: boolean): UnderWay | undefined {
  for (const product of products) {
    const { payment } = findKept(product);
    if (!payment || (draws !== undefined && (payment.isOwed || draws !== (product !== "svg-vectorize")))) continue;
    const { image, ...settings } = JSON.parse(payment.body) as { image?: string };
    const finish = () => deliver(product, payment, true);
    return { draws: product !== "svg-vectorize", settings, picture: pictureIn(image), finish };
  }
  return undefined;
}

async function deliver(product: Product, kept: KeptPayment, isResumed: boolean): Promise<Made> {
  const delivered = await postPayment(urlOf(product), kept, view, { isResumed });
  if (!delivered) {
    const said = "Press again, or reload this page: the same payment fetches the result, and nothing is paid twice.";
    throw notPaid(said, "The end of this payment is not known yet.");
  }
  return conclude(product, kept, delivered).finally(() => delivered.watch.stop());
}

async function conclude(product: Product, kept: KeptPayment, delivered: Delivered): Promise<Made> {
  const { status, body } = delivered;
  const error = errorOf(status, body);
  const advice = String(body.advice ?? "The payment was settled and stays on record.");
  const hasResult = typeof body.svg === "string";
  const ended = { bought: product, kept, delivered, view };
  switch (await endPayment({ ...ended, hasResult })) {
    case "delivered":
      // The drawing does not wait for that.
      void closePayment(ended);
      return { ...(body as unknown as Made), paid_usdc: usdc(kept.amount) };
    case "free":
      return body as unknown as Made;
    case "owed":
      // Without advice it is drawn, and cannot be read at the moment.
      if (body.advice !== undefined) keep(product, { payment: { ...kept, isOwed: true } });
      throw notPaid(`${advice} Press again: it is drawn without another payment.`, error);
    case "gone":
      throw notPaid(advice, error);
    case "used":
      throw notPaid(usedSaid(kept, error), "This payment was used already.");
    case "open": {
      const said = "Do not pay again: press, and the same payment is posted again.";
      throw notPaid(`${withoutCode(error)} ${said}`, "This payment is not over.");
    }
    case "refused":
      throw notPaid(withoutCode(error), "The payment was refused.");
    case "failed":
    case "rejected":
      throw notPaid(error);
  }
}

/** Where only a mock model would draw, the whole order is drawn for nothing instead of being priced. */
function madeForNothing(error: unknown): Made {
  card.remove();
  if (error instanceof AnswerError && typeof error.body.svg === "string") return error.body as unknown as Made;
  if (error instanceof AnswerError || error instanceof UnreachableError) throw notPaid(error.message);
  throw error;
}

function refuseWhatNeedsAnAccount({ settings }: Order): void {
  const { layers, hd, aspect } = settings as { layers?: true; hd?: true; aspect?: string };
  if (layers) throw notPaid("Named layers need an account. Switch them off to pay by wallet.");
  if (hd && aspect === "wide") throw notPaid("Wide drawings in HD need an account. Choose another shape.");
}

/** Tells why there is no drawing; `title` where money moved, or more is to be said. */
const notPaid = (message: string, title?: string) => new AskFailedError(message, title === undefined ? {} : { title });

function productOf({ draws, settings }: Order): Product {
  if (!draws) return "svg-vectorize";
  return "hd" in settings ? "svg-generate-hd" : "svg-generate";
}

const urlOf = (product: Product) => `/api/x402/${product}`;
