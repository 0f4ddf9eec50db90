import { z } from "zod";
import { type Answer, OutboundBusyError, OutboundFailedError, OutboundRefusedError } from "../../shared/outbound.ts";
import type { Problem } from "../parse.ts";
import { bodyTemplateProblem, fillBody } from "./body-template.ts";
import { type Connector, holderOf } from "./connector.ts";
import { type Guide, settingNotes } from "./guide.ts";
import { fillHeader, headersProblems } from "./header-template.ts";
import { hostProblems } from "./host-problems.ts";
import { jsonValue } from "./json-value.ts";
import { parseJson } from "./parse-json.ts";
import { busyText, ConnectorError, jsonOutput, type Output } from "./result.ts";
import { type Filling, fillingOf, type Slot, slotsOf } from "./template.ts";
import { fillUrl, originOf, urlTemplateProblem } from "./url-template.ts";

const bytesMax = 2_097_152;
const timeLimitMs = 60_000;
/** Headers that belong to the connection, not to the call. */
const connectionHeaders =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header name")
  .refine((name) => !connectionHeaders.test(name), "is set by the connection itself");

const settings = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  url: z
    .string()
    .max(2_048)
    .refine((url) => originOf(url) !== undefined, "must begin with http:// or https:// and a host without slots"),
  headers: z.record(headerName, z.string().max(4_000)).default({}),
  /** A text, or JSON with slots in its texts. */
  body: jsonValue.optional(),
  format: z.enum(["json", "text"]).default("json"),
});

type Settings = z.infer<typeof settings>;

const guide: Guide = {
  kind: "apis",
  icon: "globe",
  does: "One HTTP request to your own service, built from templates. Buyers choose values, never the host. The answer is the output.",
  settings: {
    method: "of the request",
    url: "template: http or https; the host has no slots",
    headers: "templates by name",
    body: "template: a text, or JSON with slots in its texts",
    format: settingNotes.format,
  },
  template: () => ({
    name: "Exchange rates",
    description: "The European Central Bank's rate between two currencies, as JSON.",
    category: "finance",
    tags: ["currency"],
    price_credits: 1,
    fields: [
      { name: "from", label: "From", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "USD" },
      { name: "to", label: "To", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "EUR" },
    ],
    accepts_extra_instructions: false,
    // Open to every caller, without a key: api.frankfurter.dev.
    settings: { url: "https://api.frankfurter.dev/v1/latest?base={{from}}&symbols={{to}}" },
  }),
};

/** One HTTP request built from templates; its answer is the output. The host is the creator's, never the buyer's. */
export const httpApi: Connector<Settings> = {
  id: "http-api",
  guide,
  timeLimitMs,
  usualSeconds: [2, 15],
  permanent: false,
  settings,
  outputKind: ({ format }) => format,
  takesSecrets: true,
  slots: ({ url, headers, body }) => slotsOf({ url, headers, body }),
  templateProblems: ({ url, headers, body }, fields) => {
    const typeOf = ({ secret, name }: Slot) => (secret ? undefined : fields.find((field) => field.name === name)?.type);
    const problem = (path: string, message: string | undefined): Problem[] =>
      message ? [{ path: [path], message }] : [];
    return [
      ...problem("url", urlTemplateProblem(url)),
      ...headersProblems(headers),
      ...problem("body", bodyTemplateProblem(body, contentTypeOf(headers), typeOf)),
    ];
  },
  publishProblems: async ({ method, url, body }, { outbound }) => {
    const problems: Problem[] = [];
    if (method === "GET" && body !== undefined) {
      problems.push({
        path: ["body"],
        message: "cannot go with GET; other methods take one: POST, PUT, PATCH, DELETE",
      });
    }
    return [...problems, ...hostProblems(outbound, originOf(url)!)];
  },
  run: async (call, { outbound }) => {
    const { settings, signal, agent } = call;
    const filling = fillingOf(call);
    const url = fillUrl(settings.url, filling);
    const { headers, body } = fillRequest(settings, filling);
    try {
      const holder = holderOf(agent);
      const ask = { method: settings.method, headers, timeoutMs: timeLimitMs, bytesMax, signal, holder };
      return {
        output: await readAnswer(await outbound.fetch(url, body === undefined ? ask : { ...ask, body }), settings),
      };
    } catch (error) {
      if (error instanceof OutboundBusyError) throw new ConnectorError(busyText, { reason: error.message });
      if (!(error instanceof OutboundRefusedError || error instanceof OutboundFailedError)) throw error;
      throw new ConnectorError("The service behind this agent could not be reached.", { reason: error.message });
    }
  },
};

async function readAnswer({ status, body }: Answer, { format }: Settings): Promise<Output> {
  if (status < 200 || status >= 300) {
    throw new ConnectorError("The service behind this agent answered with an error.", { status });
  }
  if (format === "text") return { kind: "text", text: body.toString("utf8") };
  try {
    return jsonOutput(await parseJson(body));
  } catch {
    throw new ConnectorError("The service behind this agent did not answer in JSON.", { status });
  }
}

function fillRequest(
  { headers, body }: Settings,
  filling: Filling,
): { headers: Record<string, string>; body?: string } {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, template]) => [name.toLowerCase(), fillHeader(template, filling)]),
  );
  if (body === undefined) return { headers: filled };
  const { text, contentType } = fillBody(body, contentTypeOf(headers), filling);
  return { headers: contentType === undefined ? filled : { ...filled, "content-type": contentType }, body: text };
}

function contentTypeOf(headers: Settings["headers"]): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
}
