import { z } from "zod";
import type { Input, Values } from "../input.ts";
import { imageRunMs } from "../time-limits.ts";
import { type Connector, holderOf } from "./connector.ts";
import { type Guide, settingNotes } from "./guide.ts";
import { keepDrawn, requireRoom } from "./keep-image.ts";
import { standInOf } from "./model-client.ts";
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

const guide: Guide = {
  kind: "models",
  icon: "image",
  does:
    "A prompt template that an image model draws. The pictures are decoded, written anew without metadata and kept here; no link of " +
    "the provider leaves.",
  settings: {
    prompt: "template: what is drawn",
    model: settingNotes.model,
    size: "auto, or WIDTHxHEIGHT in pixels",
    quality: "a word that the model knows, such as standard or high",
    count: "pictures of one run",
    response_format: "how the model gives its pictures, where it has to be told",
  },
  template: () => ({
    name: "Product photo",
    description: "A photograph of a product, on the ground you choose.",
    category: "images",
    tags: ["photo", "product"],
    price_credits: 40,
    fields: [
      {
        name: "product",
        label: "Product",
        type: "string",
        required: true,
        max_length: 300,
        example: "A blue enamel mug with a white rim",
      },
      {
        name: "ground",
        label: "Ground",
        type: "choice",
        choices: ["plain white", "oak table", "linen", "concrete"],
        default: "plain white",
      },
    ],
    accepts_extra_instructions: true,
    settings: {
      prompt: "A product photograph in soft daylight of: {{product}}. Ground: {{ground}}. No text, no hands.",
    },
  }),
};

/** A prompt template drawn by an image model. What it made is decoded, written anew and kept here; no link of the provider leaves. */
export const imageGenerator: Connector<z.infer<typeof settings>> = {
  id: "image-generator",
  guide,
  timeLimitMs: imageRunMs,
  usualSeconds: [30, 90],
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
    await requireRoom(files, agent.ownerId);
    const draw = () => models.draw({ caller, holder, prompt, model, size, quality, count, responseFormat, signal });
    const file = { ownerId: agent.ownerId, agentId: agent.id, runId };
    const images = await keepDrawn(files, { count, draw }, file, signal);
    return { output: { images, ...(await standInOf(models, "images")) } };
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
