import { z } from "zod";
import type { Input, Values } from "../input.ts";
import { type Connector, holderOf } from "./connector.ts";
import { type Guide, settingNotes } from "./guide.ts";
import { type Message, standInOf } from "./model-client.ts";
import { parseJson } from "./parse-json.ts";
import { ConnectorError, jsonOutput, type Output } from "./result.ts";
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

const guide: Guide = {
  kind: "models",
  icon: "text",
  does: "A prompt template that a language model answers, as text or as JSON. The model is one that the operator lists.",
  settings: {
    system: "template: how the model should behave",
    prompt: "template: what it is asked",
    model: settingNotes.model,
    format: settingNotes.format,
    temperature: "how much the answer varies",
    max_tokens: "the longest answer",
  },
  template: () => ({
    name: "Summarise a text",
    description: "Shortens a text to what matters, in the tone you choose.",
    category: "writing",
    tags: ["summary"],
    price_credits: 5,
    fields: [
      {
        name: "text",
        label: "Text",
        type: "text",
        required: true,
        max_length: 8_000,
        example:
          "Buyers pay for each call, in credits or from a wallet. Creators are paid at once. A run that fails costs nothing.",
      },
      { name: "tone", label: "Tone", type: "choice", choices: ["neutral", "friendly", "blunt"], default: "neutral" },
      { name: "max_words", label: "Max words", type: "integer", min: 20, max: 400, default: 120 },
    ],
    accepts_extra_instructions: true,
    settings: {
      system: "Summarise in a {{tone}} tone. At most {{max_words}} words. No preamble.",
      prompt: "{{text}}",
    },
  }),
};

/** A prompt template with `{{field}}` slots, answered by a language model as text or as JSON. */
export const llm: Connector<z.infer<typeof settings>> = {
  id: "llm",
  guide,
  timeLimitMs: 120_000,
  usualSeconds: [2, 15],
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
    const standIn = await standInOf(models, "chat");
    const output: Output = format === "json" ? jsonOutput(await parseAnswer(text)) : { kind: "text", text };
    return { output: { ...output, ...standIn } };
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
    throw new ConnectorError("The language model did not answer in JSON.", { length: text.length });
  }
}

/** Models often wrap JSON in a Markdown fence although the prompt asked for none. */
function unfenced(text: string): string {
  const end = text.indexOf("\n");
  const isFence = /^```(json)?\s*$/.test(text.slice(0, Math.max(0, end))) && text.endsWith("```");
  return isFence ? text.slice(end, -3) : text;
}
