import { Agent, request } from "undici";
import type { Secret } from "../../shared/env.ts";
import { ConnectorFailure } from "./connector.ts";

const bytesMax = 4_194_304;

/**
 * An OpenAI-compatible endpoint that the operator configured. Answers the assistant's text; throws ConnectorFailure
 * for everything that is not a whole answer. What the endpoint says about an error can quote the prompt, so only its
 * status and code reach the log.
 */
export function createModelClient(options: {
  baseUrl: string;
  apiKey: Secret | undefined;
  model: string;
}): ModelClient {
  const dispatcher = new Agent({ connect: { timeout: 5_000 }, connections: 256 });
  const url = `${options.baseUrl}/chat/completions`;
  return {
    complete: async ({ messages, model, json, temperature, maxTokens, signal }) => {
      const answer = await post(url, dispatcher, options.apiKey, signal, {
        model: model ?? options.model,
        messages,
        ...(json ? { response_format: { type: "json_object" } } : {}),
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      });
      return textOf(answer);
    },
    stop: () => dispatcher.close(),
  };
}

export interface ModelClient {
  complete(ask: Completion): Promise<string>;
  stop(): Promise<void>;
}

export interface Completion {
  readonly messages: ReadonlyArray<{ readonly role: "system" | "user"; readonly content: string }>;
  readonly model?: string | undefined;
  readonly json?: boolean;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly signal: AbortSignal;
}

async function post(
  url: string,
  dispatcher: Agent,
  apiKey: Secret | undefined,
  signal: AbortSignal,
  body: object,
): Promise<unknown> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {}),
  };
  // The run's own deadline is the only one: undici's shorter defaults would cut long answers.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  let answer: Awaited<ReturnType<typeof request>>;
  let text: string;
  try {
    answer = await request(url, {
      method: "POST",
      dispatcher,
      signal,
      headers,
      body: JSON.stringify(body),
      ...timeouts,
    });
    // A failure of the body after its reader gave up must not end the process.
    answer.body.on("error", () => {});
    text = await readText(answer.body);
  } catch (error) {
    if (signal.aborted || error instanceof ConnectorFailure) throw error;
    const { code, name } = error as { code?: string; name?: string };
    throw new ConnectorFailure("The language model could not be reached.", { reason: code ?? name });
  }
  const { statusCode } = answer;
  if (statusCode === 429) throw new ConnectorFailure("The language model is busy; try again later.", { statusCode });
  if (statusCode !== 200) {
    throw new ConnectorFailure("The language model failed.", { statusCode, code: errorCodeOf(parsed(text)) });
  }
  return parsed(text);
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ConnectorFailure("The language model answered too much.", { bytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function textOf(answer: unknown): string {
  const choice = (answer as ChatAnswer | undefined)?.choices?.[0];
  const finish = choice?.finish_reason;
  const content = choice?.message?.content;
  if (choice?.message?.refusal || finish === "content_filter") {
    throw new ConnectorFailure("The language model declined to answer.", { finish });
  }
  if (finish === "length") throw new ConnectorFailure("The answer became too long and was cut off.", { finish });
  if (typeof content !== "string" || content.trim() === "") {
    throw new ConnectorFailure("The language model gave no answer.", { finish });
  }
  return content;
}

function errorCodeOf(body: unknown): string | undefined {
  const code = (body as { error?: { code?: unknown } } | undefined)?.error?.code;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ChatAnswer {
  readonly choices?: ReadonlyArray<{
    readonly finish_reason?: unknown;
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown };
  }>;
}
