import { ConnectionError, errorOf, OutcomeUnknownError, PaymentRefusedError } from "../errors.ts";
import type { Answer, CallOptions, HttpClient } from "../http-client.ts";
import { imageText } from "../image.ts";
import type { AnswerOf, PaymentProgress, Schema, VectorGraphics } from "../shapes.ts";
import { failedRun, failureOf, type Settlement, settlementIn, unknownText } from "./conclude.ts";
import { atomicOf } from "./price.ts";
import {
  type AgentCall,
  agentTarget,
  type CreditPurchase,
  keyMark,
  type PaidGenerate,
  type PaidVectorize,
  purchaseId,
  type Target,
} from "./purchase.ts";
import { encodeHeader, type Quote, quotedAt, quoteIn } from "./quote.ts";
import { chooseRequirements, type PriceLimit, refuseBeyond, refuseOtherKey, refuseOtherWallet, sign } from "./sign.ts";
import { challengeIn, showWallet } from "./sign-in.ts";
import type { SignedPayment } from "./signed-payment.ts";
import { canStillLand, isUntouched } from "./standing.ts";
import { type PaymentStore, PaymentsInMemory } from "./store.ts";
import type { Wallets } from "./wallets.ts";

const creditsPerDollar = 100;

export type { PriceLimit } from "./sign.ts";

/** A result, and the payment for it: null where it was free. */
export type Paid<Result> = Result & { readonly payment: Settlement | null };

export interface PayOptions extends CallOptions {
  /** Tells purchases of the same thing apart. Without one, the same call is the same purchase for as long as its end is open. */
  readonly purchase?: string | undefined;
}

export interface PayNeeds {
  readonly http: HttpClient;
  /** Sends the account's key. */
  readonly withKey: HttpClient;
  readonly wallets: Wallets;
  readonly store?: PaymentStore;
}

/**
 * Calls paid one by one with USDC (x402 version 2): the price is asked and held against what you allow, the wallet signs, the
 * store keeps the payment, then it is posted, and posted again until its end is known. While the end of one is open, the same
 * purchase goes on with that one: never is a second payment signed beside it.
 */
export class Pay {
  readonly #needs: PayNeeds;
  readonly #store: PaymentStore;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(needs: PayNeeds) {
    this.#needs = needs;
    this.#store = needs.store ?? new PaymentsInMemory();
  }

  /** What a run costs now. No charge; but an agent that is free is run, and answers undefined here. */
  async quote({ agent, input }: AgentCall, options?: CallOptions): Promise<Quote | undefined> {
    const asked = await this.#ask(agentTarget(agent, input), options);
    return "quote" in asked ? asked.quote : undefined;
  }

  /** Runs an agent and pays its creator. */
  run({ agent, input, ...limit }: AgentCall & PriceLimit, options?: PayOptions): Promise<Paid<Schema<"PaidResult">>> {
    return this.#buy(agentTarget(agent, input), limit, options);
  }

  /** A picture as SVG. */
  async vectorize(request: PaidVectorize, options?: PayOptions): Promise<Paid<VectorGraphics>> {
    const { max_usd, network, image, ...settings } = request;
    const body = JSON.stringify({ image: await imageText(image), ...settings });
    return this.#buy({ path: "/api/x402/svg-vectorize", body, priced: "{}" }, { max_usd, network }, options);
  }

  /** A prompt as SVG; in HD at the HD price. */
  generate(request: PaidGenerate, options?: PayOptions): Promise<Paid<VectorGraphics>> {
    const { max_usd, network, hd = false, ...drawn } = request;
    const path = hd ? "/api/x402/svg-generate-hd" : "/api/x402/svg-generate";
    return this.#buy({ path, body: JSON.stringify(drawn) }, { max_usd, network }, options);
  }

  /** Buys credits for the account of the key. */
  credits({ credits, network }: CreditPurchase, options?: PayOptions): Promise<Paid<AnswerOf<"purchaseCredits">>> {
    const limit = { max_usd: (credits / creditsPerDollar).toFixed(2), network };
    const target = { path: "/api/v1/credits/purchase", body: JSON.stringify({ credits }), isWithKey: true };
    return this.#buy(target, limit, options);
  }

  /** Posts a payment again, as an error or the store has it: it fetches what it bought, or goes on where it stopped. */
  async repeat(payment: SignedPayment, options: CallOptions = {}): Promise<Paid<object>> {
    if (typeof payment?.header !== "string") {
      throw new TypeError(
        "repeat takes a signed payment, as an error or the store has it; what a result carries is its settlement.",
      );
    }
    return this.#post(payment, true, options);
  }

  /** How a payment goes, without what it buys. */
  async progress(payment: SignedPayment, options?: CallOptions): Promise<PaymentProgress> {
    const call = { method: "GET", path: "/api/payments", query: payment.asked, repeat: "always" } as const;
    const answer = await this.#needs.http.send(call, options);
    if (answer.status !== 200) throw errorOf(answer);
    return answer.body as PaymentProgress;
  }

  async #post(payment: SignedPayment, wasPosted: boolean, options: CallOptions): Promise<Paid<object>> {
    const first = await this.#send(payment, {}, { repeat: "always", retries: retriesOfPayments }, options);
    const answer = (await this.#fetchDelivered(first, payment, options)) ?? first;
    if (answer.status === 200) {
      await this.#forget(payment);
      return { ...answer.body, payment: settlementIn(answer, payment) };
    }
    const isOpen = wasPosted || first.isAfterLoss || answer !== first;
    const { error, isKept } = await failureOf(answer, payment, { isOpen, progress: () => this.progress(payment) });
    if (!isKept) await this.#forget(payment);
    throw error;
  }

  /**
   * An answer that has left the service may have been lost on its way: the wallet that paid is given the result once more. Undefined where
   * that is not offered, or the wallet signs no texts. Throws PaymentRefusedError, and keeps the payment, where it does not sign this one.
   */
  async #fetchDelivered(
    { status, body }: Answer,
    payment: SignedPayment,
    options: CallOptions,
  ): Promise<Answer | undefined> {
    const { http, wallets } = this.#needs;
    const challenge = status === 402 ? challengeIn(body, http.baseUrl) : undefined;
    const notSigned = (cause: unknown): never => {
      throw new PaymentRefusedError("already_settled", notSignedText, { payment, charged: true, cause });
    };
    const shown = challenge && (await showWallet(challenge, payment, wallets).catch(notSigned));
    if (!shown) return undefined;
    // What was signed is good for one post: where its answer is lost, too, the payment is kept, and repeated.
    const answer = await this.#send(payment, { "sign-in-with-x": shown }, { repeat: "turned away" }, options);
    return answer.status === 402 ? undefined : answer;
  }

  async #send(
    payment: SignedPayment,
    more: Readonly<Record<string, string>>,
    how: { readonly repeat: "always" | "turned away"; readonly retries?: number },
    options: CallOptions,
  ): Promise<Answer> {
    const { path, body, header, isWithKey } = payment;
    const http = isWithKey ? this.#needs.withKey : this.#needs.http;
    const headers = { "payment-signature": header, ...more };
    return http.send({ method: "POST", path, body, headers, ...how }, options).catch((error: unknown) => {
      const cause = error instanceof ConnectionError ? error.cause : error;
      throw new OutcomeUnknownError(unknownText, { payment, cause });
    });
  }

  /** What came of a payment is told though the store cannot forget it: posted again, the payment would be told as used. */
  async #forget(payment: SignedPayment): Promise<void> {
    try {
      await this.#remove(payment);
    } catch {}
  }

  /** Another payment of the same purchase may be kept by now, whose end is open. */
  async #remove({ id, header }: SignedPayment): Promise<void> {
    const kept = await this.#store.load(id);
    if (kept?.header === header) await this.#store.remove(id);
  }

  async #buy<Result>(target: Target, limit: PriceLimit, options: PayOptions = {}): Promise<Paid<Result>> {
    atomicOf(limit.max_usd);
    const id = await purchaseId(this.#needs.http.baseUrl, target, options.purchase);
    const joined = this.#underWay.get(id);
    if (joined) {
      const work = joined.work.catch((error: unknown) => {
        // Another caller gave that up, and this one did not.
        if (!joined.signal?.aborted || options.signal?.aborted) throw error;
        return this.#buy(target, limit, options);
      });
      return (await unlessAborted(work, options.signal, (cause) => this.#givenUp(id, cause))) as Paid<Result>;
    }
    const work = this.#buyOnce(id, target, limit, options).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, { work, signal: options.signal });
    return (await work) as Paid<Result>;
  }

  /** What is thrown to a caller who gives up a purchase that another one makes: its payment may have been posted. */
  async #givenUp(id: string, cause: unknown): Promise<never> {
    const payment = await this.#store.load(id);
    throw payment ? new OutcomeUnknownError(unknownText, { payment, cause }) : cause;
  }

  async #buyOnce(id: string, target: Target, limit: PriceLimit, options: PayOptions): Promise<object> {
    const open = await this.#findOpen(id, options);
    if (open) {
      refuseBeyond(limit, open);
      refuseOtherWallet(open, this.#needs.wallets);
      refuseOtherKey(open, await this.#keyFor(target));
      return this.#post(open, true, options);
    }
    const asked = await this.#ask(target, options);
    if (!("quote" in asked)) return { ...asked.result, payment: null };
    const payment = await this.#sign(id, target, asked, limit);
    options.signal?.throwIfAborted();
    await this.#store.save(payment);
    return this.#post(payment, false, options);
  }

  /** The payment of this purchase that can still have an effect. One that can no longer land, and did not, is forgotten. */
  async #findOpen(id: string, options: CallOptions): Promise<SignedPayment | undefined> {
    const payment = await this.#store.load(id);
    if (!payment || canStillLand(payment)) return payment;
    const progress = await this.progress(payment, options).catch((cause: unknown) => {
      throw new OutcomeUnknownError(unknownText, { payment, cause });
    });
    if (!isUntouched(progress)) return payment;
    await this.#remove(payment);
    return undefined;
  }

  async #ask({ path, body, priced = body, isWithKey }: Target, options?: CallOptions): Promise<Asked> {
    const http = isWithKey ? this.#needs.withKey : this.#needs.http;
    // A free agent runs at once, so a question that is lost is not asked again by itself.
    const call = { method: "POST", path, body: priced, repeat: "turned away" } as const;
    const { status, headers, body: answered } = await http.send(call, options);
    if (status === 200) return { result: answered };
    if ("success" in answered) throw failedRun(answered);
    const quote = status === 402 ? quoteIn(headers) : undefined;
    if (!quote) throw errorOf({ status, headers, body: answered });
    return { quote, at: quotedAt(headers) };
  }

  #keyFor(target: Target): Promise<string | undefined> {
    return keyMark(target, this.#needs.withKey.authorization);
  }

  async #sign(id: string, target: Target, asked: Quoted, limit: PriceLimit) {
    const { path, body, isWithKey = false } = target;
    const { quote, at } = asked;
    const key = await this.#keyFor(target);
    const accepted = chooseRequirements(quote, this.#needs.wallets, limit);
    const { payload, payer, asked: known, goodForSeconds } = await sign(accepted, this.#needs.wallets, at);
    const { resource, extensions } = quote;
    const { network, asset, amount, payTo } = accepted;
    const now = Date.now();
    const signedFrom = Math.max(now, at.getTime());
    return {
      id,
      path,
      body,
      header: encodeHeader({ x402Version: 2, resource, accepted, payload, ...(extensions && { extensions }) }),
      isWithKey,
      ...(key !== undefined && { key }),
      ...{ network, asset, amount, payTo, payer },
      asked: known,
      signedAt: new Date(now).toISOString(),
      endsAt: new Date(signedFrom + goodForSeconds * 1_000).toISOString(),
    } satisfies SignedPayment;
  }
}

/** What comes of the work, or of `end` where the signal comes first. */
async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  end: (reason: unknown) => Promise<never>,
): Promise<T> {
  if (!signal) return work;
  const stop = new AbortController();
  const aborted = new Promise<T>((resolve) => {
    const give = () => resolve(end(signal.reason));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true, signal: stop.signal });
  });
  return Promise.race([work, aborted]).finally(() => stop.abort());
}

interface UnderWay {
  readonly work: Promise<object>;
  /** That of the caller who began it. */
  readonly signal: AbortSignal | undefined;
}

interface Quoted {
  readonly quote: Quote;
  readonly at: Date;
}

type Asked = Quoted | { readonly result: object };

const notSignedText =
  "This payment was used, and its result is kept for the wallet that paid, which did not sign for it. Call again to fetch it, or name another purchase to buy anew.";
/** With their pauses, minutes: longer than a payment can be on its way. */
const retriesOfPayments = 30;
