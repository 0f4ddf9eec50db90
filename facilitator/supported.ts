import type { SupportedResponse } from "../shared/x402.ts";
import type { Context } from "./context.ts";

/** GET /supported: what this daemon accepts. From configuration alone, so it answers while a chain is down. */
export function supported({ schemes }: Pick<Context, "schemes">): SupportedResponse {
  const signers: Record<string, string[]> = {};
  for (const scheme of schemes.all) {
    const pattern = `${scheme.network.split(":")[0]}:*`;
    signers[pattern] = [...new Set([...(signers[pattern] ?? []), ...scheme.feePayers])];
  }
  return { kinds: schemes.all.flatMap((scheme) => scheme.kinds), extensions: ["bazaar"], signers };
}
