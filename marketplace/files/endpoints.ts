import type { Request, Response } from "express";
import { z } from "zod";
import { jsonAnswer, notModified } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { historyDays } from "../history-days.ts";
import { accountOf, callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleRunId, exampleTime, exampleUrl } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { moment, runId } from "../http/shapes.ts";
import type { AccountId } from "../ids.ts";
import { offsetQuery, readQuery } from "../query.ts";
import { contentTypes, type Files } from "./files.ts";
import { FileSender } from "./send-file.ts";

interface Needs {
  readonly tools: { readonly files: Files };
}

export function fileEndpoints(needs: Needs): Endpoint[] {
  return [fileEndpoint(needs), ...[byKey, signedIn].flatMap((route) => ownFilesEndpoints(needs, route))];
}

/** By which routes, and with which proof, the owner of files asks for them. */
interface OwnerRoute {
  readonly access: "apiKey" | "account";
  readonly path: string;
  /** What operations by it are called besides. */
  readonly suffix: string;
  readonly ownerOf: (response: Response) => AccountId;
}

const byKey: OwnerRoute = {
  access: "apiKey",
  path: "/api/v1/files",
  suffix: "",
  ownerOf: (response) => callerOf(response).accountId,
};

const signedIn: OwnerRoute = {
  access: "account",
  path: "/api/account/files",
  suffix: "SignedIn",
  ownerOf: (response) => accountOf(response).id,
};

function ownFilesEndpoints(needs: Needs, route: OwnerRoute): Endpoint[] {
  return [
    filesEndpoint(needs, route),
    visibilityEndpoint(needs, route, {
      act: "hide",
      summary: "Take a file of the account's agents down: its address then answers 410.",
      description: "The file is kept, and showFile brings it back. Hiding what is hidden changes nothing.",
      hidden: true,
    }),
    visibilityEndpoint(needs, route, {
      act: "show",
      summary: "Show a hidden file again.",
      description: "Its address answers with the file as before. Showing what is not hidden changes nothing.",
      hidden: false,
    }),
    deleteEndpoint(needs, route),
  ];
}

/** Nothing in a file may run, load or be framed as ours, whatever a browser makes of it. */
const fileHeaders = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "cache-control": "public, max-age=31536000, immutable",
} as const;

const exampleName = `${"7d3f0a1c".repeat(8)}.png`;

function fileEndpoint({ tools }: Needs): Endpoint {
  const sender = new FileSender();
  return {
    method: "get",
    path: "/files/{name}",
    id: "getFile",
    tag: "Files",
    summary: "A file that a run made.",
    description:
      "Answers the file itself, in the media type of its kind. A file never changes, so it may be cached for good; one " +
      "that its owner has hidden or deleted is a 410.",
    access: "public",
    pathParameters: { name: z.string().describe("As a run's answer links it.") },
    answers: {
      200: { content: Object.values(contentTypes) },
      ...notModified,
      ...refusals(410, 429, 503, { 404: "There is no such file." }),
    },
    handler: async (request, response) => {
      const name = String(request.params.name);
      const { contentType, bytes } = await tools.files.find(name);
      const etag = `"${name.slice(0, 64)}"`;
      const headers = { ...fileHeaders, etag };
      if (request.headers["if-none-match"]?.includes(etag)) return void response.status(304).set(headers).end();
      await sender.send(request, response, { ...headers, "content-type": contentType }, () =>
        tools.files.open(name, bytes),
      );
    },
  };
}

const filesQuery = z.object({
  ...offsetQuery("Files"),
  agent: z.string().max(100).optional().describe("Of this agent of the account's alone: the name part of its address."),
});

const filesShape = z
  .object({
    files: z.array(
      z
        .object({
          name: z.string(),
          url: z.string(),
          agent: z.string().nullable(),
          run_id: runId.nullable(),
          bytes: z.int(),
          created_at: moment,
          hidden_at: moment.nullable(),
        })
        .meta({ id: "File" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Files" });

function filesEndpoint({ tools }: Needs, { access, path, suffix, ownerOf }: OwnerRoute): Endpoint {
  const file = {
    name: exampleName,
    url: `${exampleUrl}/files/${exampleName}`,
    agent: exampleAgent,
    run_id: exampleRunId,
    bytes: 48_213,
    created_at: exampleTime,
    hidden_at: null,
  } as const;
  return {
    method: "get",
    path,
    id: `listFiles${suffix}`,
    tag: "Files",
    summary: "What the account's agents have made, newest first.",
    description:
      "Answers the files of the account's own agents, for every buyer, and of the drawings that the account ordered, " +
      "hidden ones too, and none that were deleted.",
    access,
    query: filesQuery,
    answers: { 200: jsonAnswer(filesShape, { files: [file], limit: 20, offset: 0 }) },
    handler: async (request, response) => {
      const { limit, offset, agent } = readQuery(filesQuery, request.query);
      response.json({ files: await tools.files.list(ownerOf(response), { limit, offset, agent }), limit, offset });
    },
  };
}

const visibilityShape = z.object({ name: z.string(), hidden: z.boolean() }).meta({ id: "FileVisibility" });

function visibilityEndpoint(
  { tools }: Needs,
  { access, path, suffix, ownerOf }: OwnerRoute,
  { act, hidden, ...said }: Pick<Endpoint, "summary" | "description"> & { act: "hide" | "show"; hidden: boolean },
): Endpoint {
  return {
    method: "post",
    path: `${path}/{name}/${act}`,
    id: `${act}File${suffix}`,
    ...said,
    tag: "Files",
    access,
    pathParameters: { name: z.string().describe("The last part of the file's address.") },
    answers: {
      200: jsonAnswer(visibilityShape, { name: exampleName, hidden }),
      ...refusals({ 404: "There is no such file." }),
    },
    handler: async (request, response) => {
      const name = nameIn(request);
      await tools.files.setHidden(ownerOf(response), name, hidden);
      response.json({ name, hidden });
    },
  };
}

function nameIn(request: Request): string {
  const name = String(request.params.name);
  if (!name.includes("\0")) return name;
  throw new ApiError("bad_request", '"name" holds a character that is none (NUL).', { body: { field: "name" } });
}

const deletedShape = z.object({ name: z.string(), deleted: z.literal(true) }).meta({ id: "DeletedFile" });

function deleteEndpoint({ tools }: Needs, { access, path, suffix, ownerOf }: OwnerRoute): Endpoint {
  return {
    method: "delete",
    path: `${path}/{name}`,
    id: `deleteFile${suffix}`,
    tag: "Files",
    summary: "Delete a file of the account's agents for good, and have its room back.",
    description:
      `Its address answers 410 until the same is made again. What an agent made for a buyer is a 409 for ${historyDays} days, as long as runs ` +
      "are kept, and until every buyer who paid for it has fetched the result; hideFile takes it down at any time. Deleting it " +
      "again changes nothing.",
    access,
    pathParameters: { name: z.string().describe("The last part of the file's address.") },
    answers: {
      200: jsonAnswer(deletedShape, { name: exampleName, deleted: true }),
      ...refusals({
        404: "There is no such file.",
        409: "This file was made for a buyer, who may fetch it until 2026-08-25. It can be hidden until then.",
      }),
    },
    handler: async (request, response) => {
      const name = nameIn(request);
      await tools.files.delete(ownerOf(response), name);
      response.json({ name, deleted: true });
    },
  };
}
