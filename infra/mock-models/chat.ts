import { createHash } from "node:crypto";
import { z } from "zod";
import { drawSvg } from "./picture.ts";

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);

/** The fields of OpenAI's request that change an answer; the rest is accepted and ignored, as there. */
export const chatRequest = z.object({
  model: z.string().min(1),
  messages: z
    .array(
      z.object({
        role: z.enum(["system", "developer", "user", "assistant", "tool"]),
        content: z.union([z.string(), z.array(part)]).nullish(),
      }),
    )
    .min(1),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  response_format: z.object({ type: z.enum(["text", "json_object"]) }).nullish(),
  stream: z.literal(false, "The stand-in does not stream.").nullish(),
});

export type ChatRequest = z.infer<typeof chatRequest>;

interface ChatFaults {
  readonly truncate?: boolean | undefined;
  readonly refuse?: boolean | undefined;
  readonly answer?: string | undefined;
}

/** Equal messages get equal answers, apart from the time of creation. */
export function answerChat(request: ChatRequest, faults: ChatFaults): object {
  const prompt = request.messages.map(textOf).join("\n");
  const digest = createHash("sha256").update(JSON.stringify(request.messages)).digest("hex");
  const wholeAnswer = faults.answer ?? compose(request, digest);
  const tokensMax = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  const charactersMax = Math.min(tokensMax * charactersPerToken, faults.truncate ? wholeAnswer.length / 2 : Infinity);
  const content = wholeAnswer.slice(0, charactersMax);
  const message = faults.refuse
    ? { role: "assistant", content: null, refusal: "The stand-in refuses, as it was told to; there is no model here." }
    : { role: "assistant", content, refusal: null };
  const usage = { prompt_tokens: tokensIn(prompt), completion_tokens: tokensIn(content) };
  return {
    id: `chatcmpl-standin-${digest.slice(0, 16)}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: !faults.refuse && content.length < wholeAnswer.length ? "length" : "stop",
      },
    ],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
    system_fingerprint: "made-without-a-model",
  };
}

/** OpenAI refuses a json_object request whose messages never say "json"; so does this. */
export function lacksTheWordJson({ response_format: format, messages }: ChatRequest): boolean {
  return format?.type === "json_object" && !messages.some((message) => /json/i.test(textOf(message)));
}

function compose({ messages, response_format: format }: ChatRequest, digest: string): string {
  const asked = textOf(messages.findLast(({ role }) => role === "user") ?? messages.at(-1) ?? {}).slice(0, 2000);
  const [, width, height] = /<svg viewBox="0 0 (\d{1,4}) (\d{1,4})">/.exec(textOf(messages[0] ?? {})) ?? [];
  if (width && height) return drawSvg(digest, Number(width), Number(height));
  const note = "This answer was made without a model, by the stand-in.";
  if (format?.type !== "json_object") return `${note}\n\nAsked: ${asked}\n\nFingerprint: ${digest.slice(0, 12)}`;
  return JSON.stringify({ note, made_without_a_model: true, asked, fingerprint: digest.slice(0, 12) });
}

function textOf({ content }: Partial<ChatRequest["messages"][number]>): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((item) => (item.type === "text" ? item.text : "[image]")).join("\n");
}

const charactersPerToken = 4;
const tokensIn = (text: string) => Math.ceil(text.length / charactersPerToken);
