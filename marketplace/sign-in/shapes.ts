import { z } from "zod";
import { moment } from "../http/shapes.ts";

export const linkSentShape = z
  .object({
    sent_to: z.string(),
    expires_in_seconds: z.int(),
    link: z
      .string()
      .optional()
      .describe("Only where there is no mail server and the service runs on your own machine."),
  })
  .meta({ id: "LinkSent" });

export const signedInShape = z.object({ signed_in: z.boolean() }).meta({ id: "SignedIn" });

export const providerShape = z.object({ url: z.string().describe("Go there to sign in.") }).meta({ id: "Provider" });

export const challengeShape = z
  .object({
    challenge_id: z.string(),
    message: z.string().describe("To be signed as it stands."),
    expires_at: moment,
  })
  .meta({ id: "Challenge" });
