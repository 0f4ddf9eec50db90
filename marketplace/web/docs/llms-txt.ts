import type { z } from "zod";
import type { Operation } from "../../../shared/reference/operations.ts";
import { fieldRows } from "../../../shared/reference/schema-rows.ts";
import { dollarText } from "../../credits/amount.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { creditText, type SvgProduct, svgProducts } from "../../svg/products.ts";
import { generateOnCredits, vectorizeOnCredits } from "../../svg/request.ts";
import { svgShape } from "../../svg/shapes.ts";
import { docsPages, docsPath } from "./chapters.ts";
import { fieldCells, tableOf } from "./generated.ts";
import { operationMarkdown } from "./operation-markdown.ts";
import { type DocsFacts, docsMarkdown } from "./texts.ts";

/** What the two are written in. */
export const llmsFile = "../llms.md";
const pageFiles = docsPages.flatMap(({ file }) => (file === undefined ? [] : [file]));
export const llmsFullFiles = [llmsFile, ...pageFiles];

/** All that a language model needs that has read nothing else: how to find, run and pay, and every address. */
export async function llmsTxt(facts: DocsFacts, endpoints: readonly Endpoint[]): Promise<string> {
  const { publicUrl } = facts.config;
  const text = await docsMarkdown(facts, llmsFile, {
    "fields vectorize": () => fieldTable(vectorizeOnCredits),
    "fields generate": () => fieldTable(generateOnCredits),
    "fields drawing": () => fieldTable(svgShape),
    drawings: drawingTable,
    pages: () => pagesOf(publicUrl),
    addresses: () => addressesOf(endpoints),
  });
  return text;
}

/** llms.txt, then every page of the documentation and every operation. */
export async function llmsFullTxt(
  facts: DocsFacts,
  endpoints: readonly Endpoint[],
  operations: readonly Operation[],
): Promise<string> {
  const pages = pageFiles.map((file) => docsMarkdown(facts, file));
  const parts = [await llmsTxt(facts, endpoints), ...(await Promise.all(pages)), ...operations.map(operationMarkdown)];
  return parts.map((part) => part.trim()).join("\n\n---\n\n");
}

function pagesOf(publicUrl: string): string {
  return docsPages
    .map(({ slug, title }) => `- [${title}](${publicUrl}${slug === "" ? "/docs" : docsPath(slug)}.md)`)
    .join("\n");
}

function addressesOf(endpoints: readonly Endpoint[]): string {
  return endpoints.map(({ method, path, summary }) => `- ${method.toUpperCase()} ${path}: ${summary}`).join("\n");
}

function drawingTable(): string {
  const onCredits = {
    "svg-vectorize": "`POST /api/v1/svg/vectorize`",
    "svg-generate": "`POST /api/v1/svg/generate`",
    "svg-generate-hd": 'the same with `"hd":true`',
  };
  return tableOf(
    ["", "With a key", "Paid per call"],
    (Object.keys(svgProducts) as SvgProduct[]).map((product) => {
      const { name, price } = svgProducts[product];
      return [
        `${name}, ${creditText(product)}`,
        onCredits[product],
        `\`POST /api/x402/${product}\`, ${dollarText(price)}`,
      ];
    }),
  );
}

function fieldTable(shape: z.ZodType): string {
  return tableOf(["Field", "Type", "Is"], fieldRows(shape).map(fieldCells));
}
