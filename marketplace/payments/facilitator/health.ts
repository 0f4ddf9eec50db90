import { z } from "zod";

/** What the facilitator's GET /health says, as far as it is shown. Another facilitator may say more, or nothing of it. */
const healthShape = z.object({
  status: z.string().max(50),
  chains: z
    .array(
      z.object({
        network: z.string().max(100),
        feePayer: z.string().max(100),
        balance: z.number().nullable(),
        unit: z.string().max(20).default(""),
        lowBalance: z.boolean(),
        empty: z.boolean().default(false),
        settling: z.boolean().default(true),
      }),
    )
    .max(500),
});

export type FacilitatorHealth = z.infer<typeof healthShape>;

/** Undefined for a body that says nothing of the kind. */
export function readHealth(body: string): FacilitatorHealth | undefined {
  try {
    return healthShape.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}
