import { z } from "zod";
import { type Answer, OutboundFailed, OutboundRefused } from "../../shared/outbound.ts";
import { type Connector, ConnectorFailure, jsonOutput } from "./connector.ts";
import { type Filling, fillingOf, fillJson, fillText, slotsOf } from "./template.ts";

const bytesMax = 2_097_152;
/** Headers that belong to the connection, not to the call. */
const connectionHeaders =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const literalOrigin = /^https?:\/\/[^{}/?#\\\s]+(?=[/?#]|$)/i;
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header name")
  .refine((name) => !connectionHeaders.test(name), "is set by the connection itself");

const settings = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  url: z.string().max(2_048).regex(literalOrigin, "must begin with http:// or https:// and a host without slots"),
  headers: z.record(headerName, z.string().max(4_000)).default({}),
  /** A text, or JSON with slots in its texts. */
  body: z.json().optional(),
  format: z.enum(["json", "text"]).default("json"),
});

type Settings = z.infer<typeof settings>;

/** One HTTP request built from templates; its answer is the output. The host is the creator's, never the buyer's. */
export const httpApi: Connector<Settings> = {
  id: "http-api",
  timeLimitMs: 60_000,
  permanent: false,
  settings,
  outputKind: ({ format }) => format,
  slots: ({ url, headers, body }) => slotsOf([url, headers, body]),
  publishProblems: async ({ method, url, body }, { outbound }) => {
    const problems: string[] = [];
    if (method === "GET" && body !== undefined) problems.push('"settings.body" cannot go with GET.');
    if (hasDotSegment(url)) problems.push('"settings.url" must not contain . or .. as a path segment.');
    try {
      outbound.check(literalOrigin.exec(url)![0]);
    } catch {
      problems.push('"settings.url" leads to a host that agents may not call.');
    }
    return problems;
  },
  run: async (call, { outbound }) => {
    const { settings, signal } = call;
    const filling = fillingOf(call);
    const url = fillUrl(settings.url, filling);
    const { headers, body } = fillRequest(settings, filling);
    try {
      const ask = { method: settings.method, headers, timeoutMs: 60_000, bytesMax, signal };
      return { output: readAnswer(await outbound.fetch(url, body === undefined ? ask : { ...ask, body }), settings) };
    } catch (error) {
      if (!(error instanceof OutboundRefused || error instanceof OutboundFailed)) throw error;
      throw new ConnectorFailure("The service behind this agent could not be reached.", { reason: error.message });
    }
  },
};

function readAnswer({ status, body }: Answer, { format }: Settings) {
  if (status < 200 || status >= 300) {
    throw new ConnectorFailure("The service behind this agent answered with an error.", { status });
  }
  const text = body.toString("utf8");
  if (format === "text") return { kind: "text", text } as const;
  try {
    return jsonOutput(JSON.parse(text));
  } catch {
    throw new ConnectorFailure("The service behind this agent did not answer in JSON.", { status });
  }
}

function fillRequest(
  { headers, body }: Settings,
  filling: Filling,
): { headers: Record<string, string>; body?: string } {
  const filled: Record<string, string> = {};
  for (const [name, template] of Object.entries(headers)) {
    const text = fillText(template, filling);
    if (!/^[\t\x20-\x7e]*$/.test(text)) throw new ConnectorFailure("The input holds characters that cannot be sent.");
    filled[name.toLowerCase()] = text;
  }
  if (body === undefined) return { headers: filled };
  if (typeof body === "string") return { headers: filled, body: fillText(body, filling) };
  return { headers: { "content-type": "application/json", ...filled }, body: JSON.stringify(fillJson(body, filling)) };
}

/** A value fills a part of a path or query and cannot leave it. */
function fillUrl(template: string, filling: Filling): string {
  try {
    const url = fillText(template, filling, encodeURIComponent);
    if (!hasDotSegment(url) && URL.canParse(url)) return url;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  throw new ConnectorFailure("The input does not make a valid address.");
}

function hasDotSegment(url: string): boolean {
  const [path = ""] = url.split(/[?#]/);
  return path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}
