import { z } from "zod";
import { drawPicture, seedOf } from "./picture.ts";

/** The fields of OpenAI's request that change an answer; the rest is accepted and ignored. */
export const imagesRequest = z.object({
  prompt: z.string().min(1).max(32_000),
  model: z.string().optional(),
  n: z.int().min(1).max(10).nullish(),
  size: z.union([z.literal("auto"), z.string().regex(/^\d{2,4}x\d{2,4}$/, "must be WIDTHxHEIGHT")]).nullish(),
  response_format: z.enum(["b64_json", "url"]).nullish(),
});

const side = z.coerce.number().int().min(64).max(2048);

/** All that is needed to draw a picture again. */
export const pictureAddress = z.object({ seed: z.string().regex(/^[0-9a-f]{64}$/), width: side, height: side });

/**
 * Equal prompts get equal pictures; without a size they are 256 x 256, and no side is longer than `sideMax`. `origin` is
 * where links point.
 */
export function answerImages(
  asked: z.infer<typeof imagesRequest>,
  { origin, sideMax }: { readonly origin: string; readonly sideMax: number },
): object {
  const size = asked.size && asked.size !== "auto" ? asked.size : "256x256";
  const data = Array.from({ length: asked.n ?? 1 }, (_, index) => {
    const seed = seedOf(`${index} ${asked.prompt}`);
    const wanted = pictureAddress.parse({ seed, width: size.split("x")[0], height: size.split("x")[1] });
    const scale = Math.min(1, sideMax / Math.max(wanted.width, wanted.height));
    const [width, height] = [wanted.width, wanted.height].map((side) => Math.max(64, Math.round(side * scale))) as [
      number,
      number,
    ];
    const picture =
      asked.response_format === "url"
        ? { url: `${origin}/images/${seed}/${width}/${height}` }
        : { b64_json: drawPicture(seed, width, height).toString("base64") };
    return { ...picture, revised_prompt: `drawn without a model, for: ${asked.prompt}` };
  });
  return { created: Math.floor(Date.now() / 1000), data };
}
