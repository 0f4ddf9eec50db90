import { z } from "zod";
import type { Input, Values } from "../agents/contract.ts";
import { keepImage } from "../files/images.ts";
import { type Connector, holderOf } from "./connector.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const settings = z.strictObject({
  prompt: z.string().min(1).max(20_000),
  model: z.string().min(1).max(200).optional(),
  size: z
    .string()
    .regex(/^(auto|\d{2,4}x\d{2,4})$/, "must be auto or WIDTHxHEIGHT")
    .optional(),
  quality: z
    .string()
    .regex(/^[a-z]{2,10}$/, "must be a word such as standard or high")
    .optional(),
  count: z.int().min(1).max(10).default(1),
  /** Some models have to be told how to answer, others refuse to be. */
  response_format: z.enum(["url", "b64_json"]).optional(),
});

/** A prompt template drawn by an image model. What it made is decoded, written anew and kept here; no link of the provider leaves. */
export const imageGenerator: Connector<z.infer<typeof settings>> = {
  id: "image-generator",
  timeLimitMs: 170_000,
  permanent: false,
  settings,
  outputKind: () => "image",
  slots: ({ prompt }) => slotsOf({ prompt }),
  model: ({ model: name, count: most }) => ({ kind: "images", name, most, mostSetting: "count" }),
  promptLength: (input, settings) => promptOf({ ...input, secrets: {} }, settings).length,
  run: async (call, { models, files }) => {
    const { settings, signal, agent, runId, modelCharge: caller } = call;
    const { model, size, quality, count, response_format: responseFormat } = settings;
    const prompt = promptOf(call, settings);
    const holder = holderOf(agent);
    const drawn = await models.draw({ caller, holder, prompt, model, size, quality, count, responseFormat, signal });
    const images: string[] = [];
    for (const bytes of drawn) {
      signal.throwIfAborted();
      images.push(await keepImage(files, bytes, { ownerId: agent.ownerId, agentId: agent.id, runId }));
    }
    return { output: { images } };
  },
};

function promptOf(
  call: Input & { readonly secrets: Values },
  settings: z.infer<typeof imageGenerator.settings>,
): string {
  const { extraInstructions } = call;
  const appended = extraInstructions && !imageGenerator.slots(settings).fields.includes("extraInstructions");
  const extra = appended ? `\n\nAdditional instructions:\n${extraInstructions}` : "";
  return fillText(settings.prompt, fillingOf(call)) + extra;
}
