import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { parse } from "../parse.ts";
import { type SvgOrder, type SvgResult, svgProducts } from "../svg/products.ts";
import { generateRequest, vectorizeRequest } from "../svg/request.ts";
import { customerOf, type MarkupNeeds, runSvg, type SvgNeeds, withMarkup } from "../svg/run-svg.ts";
import { svgShape } from "../svg/shapes.ts";
import { priceText } from "./agent-tool.ts";
import type { BuiltInCall, BuiltInTool } from "./built-in-tool.ts";
import { schemaOf } from "./json-schema.ts";
import { linkTo, runResult, structured } from "./results.ts";

const include_svg = z.boolean().default(false).describe("Also answer the markup, often 100 to 500 KB.");
/** Offered here since callers of these tools have a key. */
const layers = z.boolean().default(false).describe("One group per object, as a person would name them.");
const generateInput = generateRequest.extend({ layers, include_svg });
const vectorizeInput = vectorizeRequest.extend({ layers, include_svg });

const generatePrice = Number(svgProducts["svg-generate"].price);
const generateHdPrice = Number(svgProducts["svg-generate-hd"].price);
const vectorizePrice = Number(svgProducts["svg-vectorize"].price);

/** A prompt drawn as SVG. */
export function generateTool(needs: SvgToolNeeds): BuiltInTool {
  return {
    tool: {
      name: "svg_generate",
      title: "Prompt to SVG",
      description:
        "Draws what the prompt says as an SVG. Answers links to the SVG and its PNG, the size and a quality score. " +
        `${priceText(generatePrice)} In HD it costs ${generateHdPrice} credits. Usually takes 15 to 60 seconds.`,
      inputSchema: schemaOf(generateInput),
      ...svgTool("Prompt to SVG"),
      _meta: { price_credits: generatePrice, price_credits_hd: generateHdPrice, typical_duration_seconds: [15, 60] },
    },
    isFor: () => true,
    call: (call) => {
      const { include_svg, ...request } = parse(generateInput, call.input, "bad_request");
      const product = request.hd ? "svg-generate-hd" : "svg-generate";
      return draw(needs, call, { product, request, ...customerOf(call.caller) }, include_svg);
    },
  };
}

/** An image traced as SVG. */
export function vectorizeTool(needs: SvgToolNeeds): BuiltInTool {
  return {
    tool: {
      name: "svg_vectorize",
      title: "Image to SVG",
      description:
        "Turns a PNG, JPEG or WebP image into an SVG. Answers links to the SVG and its PNG, the size and a quality score. " +
        `${priceText(vectorizePrice)} Usually takes 2 to 15 seconds.`,
      inputSchema: schemaOf(vectorizeInput),
      ...svgTool("Image to SVG"),
      _meta: { price_credits: vectorizePrice, typical_duration_seconds: [2, 15] },
    },
    isFor: () => true,
    call: (call) => {
      const { include_svg, ...request } = parse(vectorizeInput, call.input, "bad_request");
      return draw(needs, call, { product: "svg-vectorize", request, ...customerOf(call.caller) }, include_svg);
    },
  };
}

function svgTool(title: string): Pick<Tool, "outputSchema" | "annotations"> {
  return {
    outputSchema: schemaOf(svgShape.partial({ svg: true })),
    annotations: { title, readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  };
}

/** Runs the order as over REST; the markup stays in its file unless it was asked for. */
async function draw(
  needs: SvgToolNeeds,
  call: BuiltInCall,
  order: SvgOrder,
  includeSvg: boolean,
): Promise<CallToolResult> {
  const { caller, maxCredits, idempotencyKey } = call;
  const answer = await runSvg(needs, caller, order, { maxCredits, idempotencyKey });
  const told = runResult(answer);
  const { output } = answer.result;
  if (!output || !("data" in output)) return told;
  const drawn = output.data as SvgResult;
  const { content, structuredContent } = structured(
    includeSvg ? await withMarkup(needs, output, answer.markup) : drawn,
  );
  const links = [drawn.url, ...Object.values(drawn.files)].map((url) => linkTo(url));
  return { ...told, content: [...content, ...links], structuredContent };
}

export type SvgToolNeeds = SvgNeeds & MarkupNeeds;
