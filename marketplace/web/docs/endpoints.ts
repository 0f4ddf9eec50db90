import type { Request, Response } from "express";
import { z } from "zod";
import { ApiError } from "../../../shared/errors.ts";
import { type KeptText, KeptTexts } from "../../../shared/kept-text.ts";
import type { Operation } from "../../../shared/reference/operations.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { refusals } from "../../http/refusals.ts";
import { docsPages } from "./chapters.ts";
import { llmsFile, llmsFullFiles, llmsFullTxt, llmsTxt } from "./llms-txt.ts";
import { operationIndex, operationMarkdown } from "./operation-markdown.ts";
import { referenceOf } from "./reference.ts";
import { changingIn, type DocsFacts, docsMarkdown } from "./texts.ts";

/** The Markdown twins of the documentation's pages, and the site index for language models. */
export function docsEndpoints(facts: DocsFacts, all: () => readonly Endpoint[]): Endpoint[] {
  const operations = referenceOf(all, facts.config.publicUrl);
  const kept = new KeptTexts();
  const read: ReadText = async (name, files, make) => kept.read(name, make, await changingIn(files, facts));
  return [
    llmsTxtEndpoint(() => read("llms.txt", [llmsFile], () => llmsTxt(facts, all()))),
    llmsFullTxtEndpoint(() => read("llms-full.txt", llmsFullFiles, () => llmsFullTxt(facts, all(), operations()))),
    startEndpoint(() => read("docs.md", ["start.md"], () => docsMarkdown(facts, "start.md"))),
    pageEndpoint(read, facts, operations),
    operationEndpoint(kept, operations),
  ];
}

/** The text of that name, which is made of these files: as it was made before, where nothing in it has changed. */
type ReadText = (name: string, files: readonly string[], make: () => string | Promise<string>) => Promise<KeptText>;

const markdown = { content: ["text/markdown"], example: "# What this is\n" } as const;
const common = { method: "get", tag: "Service", access: "public" } as const;

function llmsTxtEndpoint(read: () => Promise<KeptText>): Endpoint {
  return {
    ...common,
    path: "/llms.txt",
    id: "getLlmsTxt",
    summary: "What is here, for readers that are language models.",
    description:
      "Answers in plain text all that is needed to find an agent, run it and pay for it, with a key or without one, and every " +
      "endpoint in one line.",
    answers: { 200: { content: ["text/plain"], example: "# Agent marketplace\n" } },
    handler: async (request, response) => sendText(request, response, await read()),
  };
}

function llmsFullTxtEndpoint(read: () => Promise<KeptText>): Endpoint {
  return {
    ...common,
    path: "/llms-full.txt",
    id: "getLlmsFullTxt",
    summary: "The same with the whole documentation in one text.",
    description:
      "Answers llms.txt, then every page of the documentation, then every operation with its fields and examples.",
    answers: { 200: { content: ["text/plain"], example: "# Agent marketplace\n" } },
    handler: async (request, response) => sendText(request, response, await read()),
  };
}

function sendText(request: Request, response: Response, text: KeptText): Promise<void> {
  response.setHeader("cache-control", "public, max-age=3600");
  return text.send(request, response, "text/plain");
}

function startEndpoint(read: () => Promise<KeptText>): Endpoint {
  return {
    ...common,
    path: "/docs.md",
    id: "getDocs",
    summary: "The documentation's first page as Markdown.",
    description: "Every page of the documentation has such a twin: its address with `.md` behind it.",
    answers: { 200: markdown },
    handler: async (request, response) => sendMarkdown(request, response, await read()),
  };
}

function pageEndpoint(read: ReadText, facts: DocsFacts, operations: () => readonly Operation[]): Endpoint {
  return {
    ...common,
    path: "/docs/{page}.md",
    id: "getDocsPage",
    summary: "A page of the documentation as Markdown.",
    description: "The same text as the page's, with the tables that are made from the code.",
    pathParameters: { page: z.string().describe("The last part of the page's address, such as `per-call`.") },
    answers: { 200: markdown, ...refusals({ 404: "There is no such page of the documentation." }) },
    handler: async (request: Request, response: Response) => {
      const page = docsPages.find(({ slug }) => slug !== "" && slug === request.params.page);
      if (!page) throw noSuchPage();
      const { slug, file } = page;
      const make = () => (file ? docsMarkdown(facts, file) : operationIndex(operations()));
      return sendMarkdown(request, response, await read(`docs/${slug}.md`, file ? [file] : [], make));
    },
  };
}

function operationEndpoint(kept: KeptTexts, operations: () => readonly Operation[]): Endpoint {
  return {
    ...common,
    path: "/docs/api/{operation}.md",
    id: "getOperationDocs",
    summary: "One operation of the API as Markdown.",
    description:
      "Its parameters, body, answers and a call in several languages, from the declaration by which it is served.",
    pathParameters: { operation: z.string().describe("The operation's id, such as `runAgent`.") },
    answers: { 200: markdown, ...refusals({ 404: "There is no such page of the documentation." }) },
    handler: async (request, response) => {
      const operation = operations().find(({ id }) => id === request.params.operation);
      if (!operation) throw noSuchPage();
      const make = () => operationMarkdown(operation);
      return sendMarkdown(request, response, await kept.read(`docs/api/${operation.id}.md`, make));
    },
  };
}

function sendMarkdown(request: Request, response: Response, text: KeptText): Promise<void> {
  response.setHeader("cache-control", "public, max-age=300");
  return text.send(request, response, "text/markdown");
}

function noSuchPage(): ApiError {
  return new ApiError("not_found", "There is no such page of the documentation.");
}
