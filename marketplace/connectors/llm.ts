import { z } from "zod";
import type { Input, Values } from "../agents/contract.ts";
import { type Connector, ConnectorFailure, holderOf, jsonOutput } from "./connector.ts";
import type { Message } from "./model-client.ts";
import { parseJson } from "./parse-json.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const settings = z.strictObject({
  system: z.string().max(20_000).optional(),
  prompt: z.string().min(1).max(50_000),
  model: z.string().min(1).max(200).optional(),
  format: z.enum(["text", "json"]).default("text"),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).max(200_000).optional(),
});

/** Endpoints refuse to answer in JSON unless a message speaks of it. */
const asJson = "Answer with one JSON object and nothing else.";

/** A prompt template with `{{field}}` slots, answered by a language model as text or as JSON. */
export const llm: Connector<z.infer<typeof settings>> = {
  id: "llm",
  timeLimitMs: 120_000,
  permanent: false,
  settings,
  outputKind: ({ format }) => format,
  slots: ({ system, prompt }) => slotsOf({ system, prompt }),
  model: ({ model: name, max_tokens: most }) => ({ kind: "chat", name, most, mostSetting: "max_tokens" }),
  promptLength: (input, settings) =>
    messagesOf({ ...input, secrets: {} }, settings).reduce((sum, { content }) => sum + content.length, 0),
  run: async (call, { models }) => {
    const { settings, signal, agent, modelCharge: caller } = call;
    const { format } = settings;
    const text = await models.complete({
      caller,
      holder: holderOf(agent),
      messages: messagesOf(call, settings),
      model: settings.model,
      json: format === "json",
      temperature: settings.temperature,
      maxTokens: settings.max_tokens,
      signal,
    });
    return { output: format === "json" ? jsonOutput(await parseAnswer(text)) : { kind: "text", text } };
  },
};

function messagesOf(call: Input & { readonly secrets: Values }, settings: z.infer<typeof llm.settings>): Message[] {
  const { extraInstructions } = call;
  const filling = fillingOf(call);
  const system = [settings.system, ...(settings.format === "json" ? [asJson] : [])].filter(
    (text) => text !== undefined,
  );
  const appended = extraInstructions && !llm.slots(settings).fields.includes("extraInstructions");
  const extra = appended ? `\n\nAdditional instructions:\n${extraInstructions}` : "";
  return [
    ...system.map((text) => ({ role: "system" as const, content: fillText(text, filling) })),
    { role: "user", content: fillText(settings.prompt, filling) + extra },
  ];
}

async function parseAnswer(text: string): Promise<unknown> {
  try {
    return await parseJson(unfenced(text.trim()));
  } catch {
    throw new ConnectorFailure("The language model did not answer in JSON.", { length: text.length });
  }
}

/** Models like to wrap JSON in a Markdown fence although nobody asked for one. */
function unfenced(text: string): string {
  const end = text.indexOf("\n");
  const isFence = /^```(json)?\s*$/.test(text.slice(0, Math.max(0, end))) && text.endsWith("```");
  return isFence ? text.slice(end, -3) : text;
}
