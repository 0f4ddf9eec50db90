import { z } from "zod";
import { imageBytesMax, imagePixelsMax } from "../tracer/image/limits.ts";
import { type TraceOptions, traceColours, traceModes, traceStyles, vectorFiles } from "../tracer/options.ts";
import { drawAspects, drawColours, drawStyles, promptLengthMax, seedMax } from "./draw-options.ts";
import { freePictureMax } from "./free-picture.ts";

/** The largest image in base64, and the beginning of a data: URI. */
const base64LengthMax = imageBytesMax * 1.4;

const hexRule = /^#[0-9a-fA-F]{6}$/;
const hexColour = z.string().regex(hexRule, "must be a colour such as #1a2b3c");
const files = z
  .array(z.enum(vectorFiles))
  .max(vectorFiles.length)
  .default(["png"])
  .describe("Files made beside the SVG; the PNG always is.");

function wholeFrom(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
}

const share = "must be a number from 0 to 1";

/** Body of POST /api/v1/svg/vectorize. */
export const vectorizeRequest = z.object({
  image: z
    .string()
    .min(1)
    .max(base64LengthMax)
    .describe(
      `PNG, JPEG or WebP: an https URL, a data: URI or base64. At most ${imageBytesMax / 1e6} MB and ${imagePixelsMax / 1e6} megapixels.`,
    ),
  mode: z
    .enum(traceModes)
    .default("stacked")
    .describe("cutout: no two shapes overlap, except for a hair along shared edges."),
  style: z
    .enum(traceStyles)
    .default("auto")
    .describe(
      "What kind of picture it is; auto looks for itself. photo: a small poster; lineart: ink on white paper, shadows gone.",
    ),
  colors: wholeFrom(traceColours.min, traceColours.max)
    .optional()
    .describe(
      `At most so many colours, ${traceColours.min} to ${traceColours.max}; as many as the image needs when left out. What is see-through stays so.`,
    ),
  simplify: z
    .number(share)
    .min(0, share)
    .max(1, share)
    .default(0)
    .describe("From 0, which keeps all detail, to 1, which keeps the least."),
  remove_background: z
    .boolean()
    .default(false)
    .describe("Leaves out what touches the image's edges in one colour, and the counters of letters on it."),
  layers: z
    .boolean()
    .default(false)
    .describe("One group per object, as a person would name them. With an API key only."),
  files,
});

/** Its options as the tracer names them. */
export function traceOptions(request: Omit<VectorizeRequest, "image" | "files">): TraceOptions {
  const { mode, style, colors, simplify, remove_background: removeBackground, layers } = request;
  return { mode, style, simplify, removeBackground, layers, ...(colors === undefined ? {} : { colors }) };
}

/** Body of POST /api/svg/try. */
export const freeTryRequest = vectorizeRequest.omit({ files: true }).extend({
  image: vectorizeRequest.shape.image.describe(`PNG, JPEG or WebP, at most ${freePictureMax}: a data: URI or base64.`),
  layers: z.boolean().default(false).describe("One group per object, as a person would name them."),
});

/** Body of POST /api/v1/svg/generate. */
export const generateRequest = z.object({
  prompt: z
    .string()
    .min(1)
    .max(promptLengthMax)
    .regex(/\S/, "must say what is to be drawn")
    .describe(`What is to be drawn, in words; 1 to ${promptLengthMax.toLocaleString("en")} characters.`),
  style: z.enum(drawStyles).default(drawStyles[0]).describe("What kind of drawing it is."),
  aspect: z.enum(drawAspects).default(drawAspects[0]).describe("Width to height."),
  hd: z.boolean().default(false).describe("More detail, at the HD price."),
  layers: z
    .boolean()
    .default(false)
    .describe("One group per object, as a person would name them. With an API key only."),
  colors: wholeFrom(drawColours.min, drawColours.max)
    .optional()
    .describe(`At most so many colours, ${drawColours.min} to ${drawColours.max}.`),
  palette: z
    .array(hexColour)
    .min(1)
    .max(16)
    .optional()
    .describe("Only these colours are used: 1 to 16 such as #1a2b3c."),
  background: z
    .union(
      [z.literal("transparent"), z.string().regex(hexRule, { abort: true })],
      "must be transparent or a colour such as #1a2b3c",
    )
    .optional()
    .describe("`transparent`, or a colour such as #1a2b3c; white when left out."),
  files,
  seed: z.int().min(0).max(seedMax).optional().describe("Another number, another drawing."),
});

const max_credits = z.int().min(0).optional().describe("Refused with 402 when it costs more.");

/** What may be sent besides where credits pay. */
export const vectorizeOnCredits = vectorizeRequest.extend({ max_credits });
export const generateOnCredits = generateRequest.extend({ max_credits });

/** Inputs of the fixed-price routes and tools, which publish them: without the parts that only a key can buy. */
export const paidRequests = {
  "svg-vectorize": vectorizeRequest.omit({ layers: true }),
  "svg-generate": generateRequest.omit({ hd: true, layers: true }),
  "svg-generate-hd": generateRequest.omit({ hd: true, layers: true }).extend({
    aspect: z.enum(drawAspects).exclude(["wide"]).default(drawAspects[0]).describe("Wide HD: with an API key only."),
  }),
} as const;

/** A first order of each, as quotes and documents show it. */
export const exampleOrders = {
  "svg-vectorize": { image: "https://example.com/logo.png" },
  "svg-generate": { prompt: "A fox made of paper" },
  "svg-generate-hd": { prompt: "A fox made of paper" },
} as const;

export type VectorizeRequest = z.infer<typeof vectorizeRequest>;
export type GenerateRequest = z.infer<typeof generateRequest>;
