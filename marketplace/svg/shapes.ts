import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import type { SvgResult } from "./products.ts";

export const svgShape = covering<SvgResult & { svg: string }>()(
  z
    .object({
      svg: z.string().describe("The markup."),
      url: z.string().describe("The same, stored."),
      files: z.record(z.string(), z.string()).describe("By kind; `png` is always there."),
      width: z.int(),
      height: z.int(),
      paths: z.int(),
      colors: z.int(),
      bytes: z.int(),
      layers: z
        .array(
          z.object({
            id: z.string(),
            name: z
              .string()
              .optional()
              .describe(
                "What it is, as far as that is known: `background`, `text` (a line of what looks like letters, as outlines), `circle`, `ellipse`, `rectangle`, `triangle`, `line`, `lines`, `object`, `details`, `shadow`, `glow` (what fades away on all sides), `field` (a gradient that bends); `layer` where groups go by depth.",
              ),
            fill: z.array(z.string()),
          }),
        )
        .describe("The SVG's groups, from the one drawn first."),
      score: z
        .number()
        .min(0)
        .max(1)
        .describe(
          "Likeness of the drawing, rendered, to its source: the image, the picture traced, or what a chat model wrote. How well it answers a prompt is not measured.",
        ),
      metrics: z.object({ ssim: z.number(), psnr: z.number() }),
      background: z
        .string()
        .optional()
        .describe("With `remove_background`: the colour that was removed, such as #fff, or `none found`."),
      same_as: z.literal("auto").optional().describe("The style asked for gives the same drawing as this one."),
      advice: z
        .string()
        .optional()
        .describe(
          "What to do instead, where the picture has more than vector shapes can hold, as photographs have, or is blurred.",
        ),
      cost_usd: z.number(),
      ms: z.int(),
      stand_in: z
        .literal(true)
        .optional()
        .describe("A mock model drew it, since this service has no real one; it costs nothing."),
    })
    .meta({ id: "VectorGraphics" }),
);
