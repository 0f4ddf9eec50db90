import type { Request, Response } from "express";
import { z } from "zod";
import { ApiError } from "../../../shared/errors.ts";
import { sendPublicText } from "../../../shared/etag.ts";
import type { Operation } from "../../../shared/reference/operations.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { refusals } from "../../http/refusals.ts";
import { docsPages } from "./chapters.ts";
import { llmsFullTxt, llmsTxt } from "./llms-txt.ts";
import { operationIndex, operationMarkdown } from "./operation-markdown.ts";
import { referenceOf } from "./reference.ts";
import { type DocsFacts, docsMarkdown } from "./texts.ts";

/** The Markdown twins of the documentation's pages, and the site index for language models. */
export function docsEndpoints(facts: DocsFacts, all: () => readonly Endpoint[]): Endpoint[] {
  const operations = referenceOf(all, facts.config.publicUrl);
  return [
    llmsTxtEndpoint(facts, all),
    llmsFullTxtEndpoint(facts, all, operations),
    startEndpoint(facts),
    pageEndpoint(facts, operations),
    operationEndpoint(operations),
  ];
}

const markdown = { content: ["text/markdown"], example: "# What this is\n" } as const;
const common = { method: "get", tag: "Service", access: "public" } as const;

function llmsTxtEndpoint(facts: DocsFacts, all: () => readonly Endpoint[]): Endpoint {
  return {
    ...common,
    path: "/llms.txt",
    id: "getLlmsTxt",
    summary: "What is here, for readers that are language models.",
    description:
      "Answers in plain text all that is needed to find an agent, run it and pay for it, with a key or without one, and every " +
      "endpoint in one line.",
    answers: { 200: { content: ["text/plain"], example: "# Agent marketplace\n" } },
    handler: async (request, response) => sendText(request, response, await llmsTxt(facts, all())),
  };
}

function llmsFullTxtEndpoint(
  facts: DocsFacts,
  all: () => readonly Endpoint[],
  operations: () => readonly Operation[],
): Endpoint {
  return {
    ...common,
    path: "/llms-full.txt",
    id: "getLlmsFullTxt",
    summary: "The same with the whole documentation in one text.",
    description:
      "Answers llms.txt, then every page of the documentation, then every operation with its fields and examples.",
    answers: { 200: { content: ["text/plain"], example: "# Agent marketplace\n" } },
    handler: async (request, response) => sendText(request, response, await llmsFullTxt(facts, all(), operations())),
  };
}

function sendText(request: Request, response: Response, text: string): void {
  sendPublicText(request, response, { type: "text/plain", text, seconds: 3_600 });
}

function startEndpoint(facts: DocsFacts): Endpoint {
  return {
    ...common,
    path: "/docs.md",
    id: "getDocs",
    summary: "The documentation's first page as Markdown.",
    description: "Every page of the documentation has such a twin: its address with `.md` behind it.",
    answers: { 200: markdown },
    handler: async (request, response) => sendMarkdown(request, response, await docsMarkdown(facts, "start.md")),
  };
}

function pageEndpoint(facts: DocsFacts, operations: () => readonly Operation[]): Endpoint {
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
      const text = page.file ? await docsMarkdown(facts, page.file) : operationIndex(operations());
      sendMarkdown(request, response, text);
    },
  };
}

function operationEndpoint(operations: () => readonly Operation[]): Endpoint {
  return {
    ...common,
    path: "/docs/api/{operation}.md",
    id: "getOperationDocs",
    summary: "One operation of the API as Markdown.",
    description:
      "Its parameters, body, answers and a call in several languages, from the declaration by which it is served.",
    pathParameters: { operation: z.string().describe("The operation's id, such as `runAgent`.") },
    answers: { 200: markdown, ...refusals({ 404: "There is no such page of the documentation." }) },
    handler: (request, response) => {
      const operation = operations().find(({ id }) => id === request.params.operation);
      if (!operation) throw noSuchPage();
      sendMarkdown(request, response, operationMarkdown(operation));
    },
  };
}

function sendMarkdown(request: Request, response: Response, text: string): void {
  sendPublicText(request, response, { type: "text/markdown", text, seconds: 300 });
}

function noSuchPage(): ApiError {
  return new ApiError("not_found", "There is no such page of the documentation.");
}
