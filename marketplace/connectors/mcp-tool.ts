import { z } from "zod";
import { type Call, type Connector, holderOf, type Tools } from "./connector.ts";
import { type Guide, settingNotes } from "./guide.ts";
import { fillHeader, headersProblems } from "./header-template.ts";
import { hostProblems } from "./host-problems.ts";
import { jsonValue } from "./json-value.ts";
import { keepImages, requireRoom } from "./keep-image.ts";
import { type AskedTool, callRemoteTool, type ToolResult } from "./mcp-client.ts";
import { parseJson } from "./parse-json.ts";
import { ConnectorError, jsonOutput, type Result } from "./result.ts";
import { fillingOf, fillJson, slotsOf } from "./template.ts";

const timeLimitMs = 120_000;
const bytesMax = 4_194_304;
const imagesBytesMax = 16_777_216;
const imagesMax = 10;

const settings = z.strictObject({
  /** Address of a server that speaks MCP over Streamable HTTP. The buyer's input goes into the arguments, never in here. */
  url: z
    .string()
    .max(2_048)
    .regex(/^https?:\/\/[^{}\\\s]+$/i, "must be an http(s) URL without slots"),
  headers: z
    .record(
      z.string().regex(/^(authorization|x-[a-z0-9-]{1,62})$/i, "must be authorization or x-…"),
      z.string().max(4_000),
    )
    .default({}),
  tool: z.string().min(1).max(128),
  arguments: z.record(z.string(), jsonValue).default({}),
  format: z.enum(["json", "text", "image"]).default("text"),
});

type Settings = z.infer<typeof settings>;

const guide: Guide = {
  kind: "apis",
  icon: "plug",
  does: "One tool of your MCP server over Streamable HTTP, with arguments made from a template.",
  settings: {
    url: "of the server, without slots",
    headers: "authorization and x-… headers, templates",
    tool: "its name there",
    arguments: "template: JSON with slots in its texts",
    format: settingNotes.format,
  },
  template: () => ({
    name: "Ask about a repository",
    description: "Answers a question about a public repository from its code and documents.",
    category: "code",
    tags: ["repository", "question"],
    price_credits: 3,
    fields: [
      {
        name: "repository",
        label: "Repository",
        type: "string",
        required: true,
        pattern: "^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$",
        example: "expressjs/express",
      },
      {
        name: "question",
        label: "Question",
        type: "text",
        required: true,
        max_length: 1_000,
        example: "How are routes matched?",
      },
    ],
    accepts_extra_instructions: false,
    // Open to every caller, without a key: docs.devin.ai, DeepWiki MCP.
    settings: {
      url: "https://mcp.deepwiki.com/mcp",
      tool: "ask_question",
      arguments: { repoName: "{{repository}}", question: "{{question}}" },
    },
  }),
};

/** One tool of a remote MCP server, called with arguments made from a template. */
export const mcpTool: Connector<Settings> = {
  id: "mcp-tool",
  guide,
  timeLimitMs,
  usualSeconds: [2, 15],
  permanent: false,
  settings,
  outputKind: ({ format }) => format,
  takesSecrets: true,
  slots: ({ headers, arguments: given }) => slotsOf({ headers, arguments: given }),
  templateProblems: ({ headers }) => [
    // What a buyer says may not become a credential or a routing decision of the server.
    ...slotsOf(headers).fields.map((field) => ({
      path: ["headers"],
      message: `may use secrets only, not {{${field}}}`,
    })),
    ...headersProblems(headers),
  ],
  publishProblems: async ({ url, tool }, { outbound }) => {
    const slots = tool.includes("{{") ? [{ path: ["tool"], message: "must be a name without slots" }] : [];
    return [...slots, ...hostProblems(outbound, url)];
  },
  run: async (call, tools) => {
    const { format } = call.settings;
    if (format === "image") return { output: { images: await drawnBy(call, tools) } };
    return readResult(await callRemoteTool(tools.outbound, askOf(call)), format);
  },
};

function askOf(call: Call<Settings>): AskedTool {
  const { settings, signal, agent } = call;
  const filling = fillingOf(call);
  const headers = Object.entries(settings.headers).map(([name, template]) => [
    name.toLowerCase(),
    fillHeader(template, filling),
  ]);
  return {
    url: settings.url,
    headers: Object.fromEntries(headers),
    tool: settings.tool,
    arguments: fillJson(settings.arguments, filling) as object,
    timeoutMs: timeLimitMs,
    bytesMax: settings.format === "image" ? imagesBytesMax : bytesMax,
    signal,
    holder: holderOf(agent),
  };
}

/** The answer itself, with its pictures in base64, is let go before they wait to be kept. */
async function drawnBy(call: Call<Settings>, { outbound, files }: Tools): Promise<string[]> {
  const { agent, runId, signal } = call;
  await requireRoom(files, agent.ownerId);
  const pictures = picturesIn(await callRemoteTool(outbound, askOf(call)));
  return keepImages(files, pictures, { ownerId: agent.ownerId, agentId: agent.id, runId }, signal);
}

function picturesIn(result: ToolResult): Buffer[] {
  requireSuccess(result);
  const pictures = result.content
    .flatMap((part) => (part.type === "image" && typeof part.data === "string" ? part.data : []))
    .slice(0, imagesMax)
    .map((data) => Buffer.from(data, "base64"));
  if (pictures.length === 0) throw new ConnectorError("The tool behind this agent gave no image.");
  return pictures;
}

function requireSuccess({ isError, content }: ToolResult): void {
  if (isError) throw new ConnectorError("The tool behind this agent failed.", { parts: content.length });
}

async function readResult(result: ToolResult, format: "json" | "text"): Promise<Result> {
  const { content } = result;
  requireSuccess(result);
  const text = content
    .flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
  switch (format) {
    case "json":
      return { output: jsonOutput(result.structuredContent ?? (await parseText(text))) };
    case "text":
      if (text === "") throw new ConnectorError("The tool behind this agent gave no text.");
      return { output: { kind: "text", text } };
  }
}

async function parseText(text: string): Promise<unknown> {
  try {
    return await parseJson(text);
  } catch {
    throw new ConnectorError("The tool behind this agent did not answer in JSON.", { length: text.length });
  }
}
