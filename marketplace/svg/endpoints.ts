import type { Request, RequestHandler, Response } from "express";
import { type Answer, type Answers, jsonAnswer, type RequestBody, requestBody } from "../../shared/endpoint.ts";
import { dollarAmount } from "../answers/amounts.ts";
import type { Output } from "../connectors/result.ts";
import { credits, dollarText, priceInDollars } from "../credits/amount.ts";
import { imageBody, smallBody } from "../http/body-limits.ts";
import { accountOf, callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleUrl } from "../http/examples.ts";
import { idempotencyHeaders, readIdempotencyKey, replayedHeader, usedForAnotherText } from "../http/idempotency-key.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { noteArrival } from "../payments/http-transport.ts";
import { inputRefusals, missingInput } from "../payments/refused-input.ts";
import {
  failedAnswer,
  paymentRequestHeaders,
  quoteAnswer,
  settlementHeaders,
  unavailableAnswer,
} from "../payments/shapes.ts";
import type { Buyer } from "../runs/asked-run.ts";
import { outputLetGoText } from "../runs/kept-outputs.ts";
import { refuseUnread } from "../runs/run-answers.ts";
import { notEnoughCredits } from "../runs/shapes.ts";
import { freeTryEndpoint, queueEndpoint } from "./free-endpoint.ts";
import { type PaidSvgNeeds, paySvg, svgOffer } from "./paid.ts";
import { creditText, drawingFailed, type SvgOrder, type SvgProduct, svgProducts } from "./products.ts";
import { exampleOrders, generateOnCredits, paidRequests, vectorizeOnCredits } from "./request.ts";
import { customerOf, runSvg, type SvgNeeds, withMarkup } from "./run-svg.ts";
import { svgShape } from "./shapes.ts";

export function svgEndpoints(needs: Needs): Endpoint[] {
  return [
    vectorizeEndpoint(needs),
    generateEndpoint(needs),
    ownVectorizeEndpoint(needs),
    ownGenerateEndpoint(needs),
    freeTryEndpoint(needs),
    queueEndpoint(needs),
    paidEndpoint(needs, "svg-vectorize", {
      id: "payVectorize",
      summary: `An image as SVG for ${dollars("svg-vectorize")} over x402; no account, no key.`,
      body: requestBody(paidRequests["svg-vectorize"], exampleOrders["svg-vectorize"], imageBody),
    }),
    paidEndpoint(needs, "svg-generate", {
      id: "payGenerateSvg",
      summary: `A prompt as SVG for ${dollars("svg-generate")} over x402; no account, no key.`,
      body: requestBody(paidRequests["svg-generate"], exampleOrders["svg-generate"], smallBody),
    }),
    paidEndpoint(needs, "svg-generate-hd", {
      id: "payGenerateSvgHd",
      summary: `The same in HD for ${dollars("svg-generate-hd")} over x402.`,
      body: requestBody(paidRequests["svg-generate-hd"], exampleOrders["svg-generate-hd"], smallBody),
    }),
  ];
}

type Needs = SvgNeeds & PaidSvgNeeds & Parameters<typeof freeTryEndpoint>[0];

const dollars = (product: SvgProduct) => dollarText(svgProducts[product].price);

function vectorizeEndpoint(needs: SvgNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/v1/svg/vectorize",
    id: "vectorize",
    tag: "Vector graphics",
    summary: `An image as SVG, for ${creditText("svg-vectorize")}.`,
    description:
      "Traces a PNG, JPEG or WebP image and answers the SVG's markup, with links to it and to its PNG. Usually takes 2 to " +
      "15 seconds. What fails costs nothing.",
    access: "apiKey",
    beforeBody: [admit(needs, callerOf)],
    body: requestBody(vectorizeOnCredits, exampleOrders["svg-vectorize"], imageBody),
    before: [refuseUnread],
    headers: idempotencyHeaders,
    answers: imageAnswers,
    handler: (request, response) => answerVectorize(needs, callerOf(response), request, response),
  };
}

function generateEndpoint(needs: SvgNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/v1/svg/generate",
    id: "generateSvg",
    tag: "Vector graphics",
    summary: `A prompt as SVG, for ${creditText("svg-generate")}; in HD for ${svgProducts["svg-generate-hd"].price}.`,
    description:
      "Draws what the prompt says and answers the SVG's markup, with links to it and to its PNG. Usually takes 15 to 60 " +
      "seconds. What fails costs nothing.",
    access: "apiKey",
    body: requestBody(generateOnCredits, exampleOrders["svg-generate"], smallBody),
    before: [refuseUnread],
    headers: idempotencyHeaders,
    answers: promptAnswers,
    handler: (request, response) => answerGenerate(needs, callerOf(response), request, response),
  };
}

/** Traces for the workbench, whose visitor is signed in: no key has to be in a browser. */
function ownVectorizeEndpoint(needs: SvgNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/svg/vectorize",
    id: "vectorizeSignedIn",
    tag: "Vector graphics",
    summary: `An image as SVG, for ${creditText("svg-vectorize")}, signed in instead of with a key.`,
    description: `As vectorize in all else. ${signedIn}`,
    access: "account",
    beforeBody: [admit(needs, ownBuyer)],
    body: requestBody(vectorizeOnCredits, withMaxCredits("svg-vectorize"), imageBody),
    before: [refuseUnread],
    headers: idempotencyHeaders,
    answers: imageAnswers,
    handler: (request, response) => answerVectorize(needs, ownBuyer(response), request, response),
  };
}

function ownGenerateEndpoint(needs: SvgNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/svg/generate",
    id: "generateSvgSignedIn",
    tag: "Vector graphics",
    summary: `A prompt as SVG, for ${creditText("svg-generate")}, signed in instead of with a key.`,
    description: `As generateSvg in all else. ${signedIn}`,
    access: "account",
    body: requestBody(generateOnCredits, withMaxCredits("svg-generate"), smallBody),
    before: [refuseUnread],
    headers: idempotencyHeaders,
    answers: promptAnswers,
    handler: (request, response) => answerGenerate(needs, ownBuyer(response), request, response),
  };
}

const signedIn =
  "Send `max_credits`, so that a price which rose is a 402 and not a charge, and an `Idempotency-Key`, so that a lost answer " +
  "can be had again.";

/** A first order that costs no more than it says. */
function withMaxCredits<P extends SvgProduct>(product: P) {
  return { ...exampleOrders[product], max_credits: Number(svgProducts[product].price) };
}

const ownBuyer = (response: Response): Buyer => ({ accountId: accountOf(response).id });

/** Turns a buyer away before megabytes of image are read and parsed. */
function admit({ tracers }: Pick<SvgNeeds, "tracers">, buyerOf: (response: Response) => Buyer): RequestHandler {
  return (_request, response, next) => {
    tracers.admit(customerOf(buyerOf(response)).party);
    next();
  };
}

async function answerVectorize(needs: SvgNeeds, buyer: Buyer, request: Request, response: Response): Promise<void> {
  const { max_credits: maxCredits, ...asked } = parse(vectorizeOnCredits, request.body ?? {}, "bad_request");
  const order: SvgOrder = { product: "svg-vectorize", request: asked, ...customerOf(buyer) };
  await answerSvg(needs, { buyer, order, maxCredits }, request, response);
}

async function answerGenerate(needs: SvgNeeds, buyer: Buyer, request: Request, response: Response): Promise<void> {
  const { max_credits: maxCredits, ...asked } = parse(generateOnCredits, request.body ?? {}, "bad_request");
  const product = asked.hd ? "svg-generate-hd" : "svg-generate";
  const order: SvgOrder = { product, request: asked, ...customerOf(buyer) };
  await answerSvg(needs, { buyer, order, maxCredits }, request, response);
}

interface Asked {
  readonly buyer: Buyer;
  readonly order: SvgOrder;
  readonly maxCredits: number | undefined;
}

/** Answers with the vector-graphics result and its markup; throws as `runSvg` does. */
async function answerSvg(
  needs: SvgNeeds,
  { buyer, order, maxCredits }: Asked,
  request: Request,
  response: Response,
): Promise<void> {
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
  const { result, replayed, markup } = await runSvg(needs, buyer, order, { idempotencyKey, maxCredits });
  const answer = await withMarkup(needs, result.output as Output, markup);
  if (replayed) response.setHeader("idempotent-replayed", "true");
  response.json(answer);
}

function paidEndpoint(
  needs: PaidSvgNeeds,
  product: SvgProduct,
  { id, summary, body }: { readonly id: string; readonly summary: string; readonly body: RequestBody },
): Endpoint {
  const offer = svgOffer(needs, product);
  return {
    method: "post",
    path: `/api/x402/${product}`,
    id,
    tag: "Vector graphics",
    summary,
    description:
      "Without a payment the answer is a 402 with the quote, and no buyer is charged. With one it is the SVG. Object layers " +
      "and wide HD are for API keys only; asking for them, or sending `max_credits`, is a 400 here before the payment is used.",
    access: "public",
    price: dollarAmount(svgProducts[product].price),
    before: [noteArrival, refuseUnread],
    body: { ...body, read: "later" },
    headers: paymentRequestHeaders,
    answers: {
      200: drawn(settlementHeaders),
      402: quoteAnswer(`/api/x402/${product}`, svgProducts[product].price),
      500: failedAnswer(product === "svg-vectorize" ? drawingFailed : "The image model failed."),
      503: unavailableAnswer,
      ...refusals(429),
      ...(product === "svg-vectorize" ? inputRefusals("image") : promptRefusals),
    },
    handler: (request, response) => paySvg(needs, offer, product, request, response),
  };
}

function drawn(headers: Answer["headers"]): Answer {
  const name = "3f".repeat(32);
  return jsonAnswer(
    svgShape,
    {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><path id="fox" fill="#d9642b" d="M0 0h9v9z"/></svg>',
      url: `${exampleUrl}/files/${name}.svg`,
      files: { png: `${exampleUrl}/files/${name}.png` },
      width: 512,
      height: 512,
      paths: 1,
      colors: 1,
      bytes: 108,
      layers: [{ id: "fox", name: "fox", fill: ["#d9642b"] }],
      score: 0.97,
      metrics: { ssim: 0.98, psnr: 34.2 },
      cost_usd: priceInDollars(credits(svgProducts["svg-vectorize"].price)),
      ms: 2_140,
    },
    { ...(headers && { headers }) },
  );
}

const creditAnswers: Answers = {
  200: drawn(replayedHeader),
  ...notEnoughCredits,
  ...refusals({
    409: usedForAnotherText,
    410: { error: outputLetGoText, charged: true },
  }),
};
const imageAnswers: Answers = {
  ...creditAnswers,
  ...refusals({ 422: { error: '"image" is not a PNG, JPEG or WebP.', field: "image" }, 502: drawingFailed }),
};
const modelFailed = refusals({ 502: "The image model failed." });
const promptAnswers: Answers = { ...creditAnswers, ...modelFailed };
/** A 502 of what a mock model draws, which is not sold. */
const promptRefusals: Answers = { ...missingInput("prompt"), ...modelFailed };
