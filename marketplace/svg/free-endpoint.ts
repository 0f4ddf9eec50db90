import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { imageBody } from "../http/body-limits.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { requireOwnPage, requireSameOrigin, type SameOriginNeeds } from "../http/same-origin.ts";
import { parse } from "../parse.ts";
import { freePictureMax } from "./free-picture.ts";
import { admitFreeTry, type FreeDrawing, type FreeTryNeeds, traceFree } from "./free-tries.ts";
import { readUpload } from "./image-source.ts";
import { freeTryRequest, traceOptions } from "./request.ts";
import { svgShape } from "./shapes.ts";

const freeShape = covering<FreeDrawing>()(
  svgShape
    .omit({ url: true, files: true, cost_usd: true, stand_in: true })
    .extend({ tries_left: z.int().describe("How many more are free today.") })
    .meta({ id: "FreeDrawing" }),
);

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const queueShape = z
  .object({
    waiting: z.int().min(0).describe("Drawings that wait for their turn."),
    seconds: z.int().min(0).describe("In about how many seconds the next of those being made is done; 0 when none is."),
  })
  .meta({ id: "DrawingQueue" });

/** What the workbench tells while a visitor waits. */
export function queueEndpoint({ tracers }: Pick<FreeTryNeeds, "tracers">): Endpoint {
  return {
    method: "get",
    path: "/api/svg/queue",
    id: "getDrawingQueue",
    tag: "Vector graphics",
    summary: "How many drawings wait to be made.",
    description:
      "Of the copy of the service that answers. Accounts and addresses take turns, those with fewest drawings first; free " +
      "tries come when nothing that is paid for waits.",
    access: "public",
    answers: { 200: jsonAnswer(queueShape, { waiting: 3, seconds: 4 }), ...refusals(429) },
    handler: (_request, response) => {
      response.json(tracers.load());
    },
  };
}

/** The workbench's free tries. */
export function freeTryEndpoint(needs: FreeTryNeeds & SameOriginNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/svg/try",
    id: "tryVectorize",
    tag: "Vector graphics",
    summary: "A small image as SVG, for nothing, a few times a day; for the workbench's page.",
    description:
      `Traces an uploaded PNG, JPEG or WebP of at most ${freePictureMax}. Nothing is stored. It waits until no paid drawing does. ` +
      "A network address (IPv6: its /64) has a few tries a day (UTC); one that fails is not counted. Answers only to pages of " +
      "this service; programs use a key or pay per call.",
    access: "public",
    before: [requireSameOrigin(needs), requireOwnPage],
    // Turned away before megabytes of image are read and parsed.
    beforeBody: [
      async (request, _response, next) => {
        await admitFreeTry(needs, request.ip ?? "");
        next();
      },
    ],
    body: requestBody(freeTryRequest, { image: onePixel, layers: true }, imageBody),
    answers: {
      200: jsonAnswer(freeShape, {
        svg: '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64"><g id="object-1"><path fill="#d9642b" d="M0 0h9v9z"/></g></svg>',
        width: 64,
        height: 64,
        paths: 1,
        colors: 1,
        bytes: 142,
        layers: [{ id: "object-1", name: "object", fill: ["#d9642b"] }],
        score: 0.97,
        metrics: { ssim: 0.98, psnr: 34.2 },
        ms: 240,
        tries_left: 2,
      }),
      ...refusals(429, 503, {
        403: "This is for the pages of this service alone.",
        422: { error: '"image" is not a PNG, JPEG or WebP.', field: "image" },
      }),
    },
    handler: async (request, response) => {
      const asked = parse(freeTryRequest, request.body ?? {}, "bad_request");
      const image = readUpload(asked.image);
      response.json(await traceFree(needs, request.ip ?? "", image, traceOptions(asked)));
    },
  };
}
