import { encodeHeader } from "../../../../client/payments/quote.ts";
import { atomicPerCredit } from "../../../answers/amounts.ts";
import type { InputValues } from "../dom/fields.ts";
import { refusalOf, type Wallet } from "../wallet/providers.ts";
import { hasRoomFor, type KeptPayment } from "./kept.ts";
import { askQuote } from "./quote.ts";
import { sign } from "./sign.ts";
import { connectHedera } from "./sign-hedera.ts";
import type { PaymentView } from "./view.ts";

/** A purchase: the body is posted to the address, for the price that it quotes. */
export interface Purchase {
  readonly url: string;
  readonly body: string;
  /** What the form said, which is kept with the payment. */
  readonly input: InputValues;
  /** What the price is asked for with, where the body is too large to be sent for that. */
  readonly priced?: string;
  /** The account whose purchase it is; undefined for a purchase without an account. */
  readonly account?: string | undefined;
  readonly wallet: Wallet;
  readonly network: string;
  /** The account to which the page says that it is paid; undefined where it names none. */
  readonly payee?: string | undefined;
  /** Asked with the price in credits, before anything is signed. */
  readonly agreesTo: (credits: number) => Promise<boolean>;
  readonly view: PaymentView;
}

/** Why nothing was signed; nothing was charged then. */
export interface NotSigned {
  readonly tone: "info" | "warn";
  readonly title: string;
  readonly said: string;
}

/** Asks for the price and has the wallet sign it. Throws AnswerError where there is something else than a price. */
export async function signPayment(purchase: Purchase): Promise<KeptPayment | NotSigned> {
  const { url, body, input, priced = body, account, wallet, network, payee, agreesTo, view } = purchase;
  if (!hasRoomFor({ body, input })) return tooLarge;
  // Before the price is asked for: a quote holds for minutes, and finding the telephone can take as long.
  if (wallet.networks) {
    const refusal = await connectHedera(wallet, network).then(() => undefined, refusalOf);
    if (refusal) return notSigned(view, refusal);
  }
  view.wait("price asked for");
  const quote = await askQuote(url, priced, account);
  const clockAhead = Date.now() - quote.at.getTime();
  const accepted = quote.accepts.find((entry) => entry.network === network);
  if (!accepted) return notSigned(view, "This network is not offered at the moment.");
  const { amount, payTo } = accepted;
  // The case of an EVM address says nothing.
  if (payee && payee.toLowerCase() !== payTo.toLowerCase()) {
    const said = `To ${payTo}, and not to ${payee}. Reload this page. Nothing was charged.`;
    return notSigned(view, "It is paid to another account by now", said);
  }
  if (!(await agreesTo(Math.ceil(Number(amount) / Number(atomicPerCredit))))) {
    return { tone: "info", title: "Not run", said: "You did not agree to the new price. Nothing was charged." };
  }
  const quotedAt = Date.now();
  view.payment({ quotedAt, amount });
  view.wait("confirm the payment in your wallet");
  const signed = await sign(wallet.provider, accepted, quote.at).catch(refusalOf);
  if (typeof signed === "string") return notSigned(view, signed);
  const { payload, ...kept } = signed;
  const payment = { x402Version: 2, resource: quote.resource, accepted, payload };
  const header = encodeHeader(payment);
  return { ...kept, header, body, input, account, clockAhead, amount, quotedAt, signedAt: Date.now() };
}

const tooLarge: NotSigned = {
  tone: "warn",
  title: "This is too large to be paid for here",
  said: "This browser has no room for it. Use a smaller picture, or pay from a terminal. Nothing was charged.",
};

function notSigned(view: PaymentView, refusal: string, said = "Nothing was charged."): NotSigned {
  view.noPayment();
  return { tone: "warn", title: refusal, said };
}
