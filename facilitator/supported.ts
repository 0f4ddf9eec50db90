import { z } from "zod";
import { covering } from "../shared/covering.ts";
import type { SupportedResponse } from "../shared/x402.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";

export const supportedShape = covering<SupportedResponse>()(
  z
    .object({
      kinds: z.array(
        z.object({
          x402Version: z.union([z.literal(1), z.literal(2)]),
          scheme: z.string(),
          network: z.string(),
          extra: z.looseObject({}).optional(),
        }),
      ),
      extensions: z.array(z.string()),
      signers: z
        .record(z.string(), z.array(z.string()))
        .describe("By network pattern (`hedera:*`), who pays network fees."),
    })
    .meta({ id: "SupportedResponse" }),
);

/** GET /supported: what this daemon accepts. From configuration alone, so it answers while a chain is down. */
export function supported({ schemes }: { readonly schemes: SchemeRegistry }): SupportedResponse {
  const signers: Record<string, string[]> = {};
  for (const scheme of schemes.all) {
    const pattern = `${scheme.network.split(":")[0]}:*`;
    signers[pattern] = [...new Set([...(signers[pattern] ?? []), ...scheme.feePayers])];
  }
  return { kinds: schemes.all.flatMap((scheme) => scheme.kinds), extensions: ["bazaar"], signers };
}
