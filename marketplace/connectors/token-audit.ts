import { z } from "zod";
import type { Connector } from "./connector.ts";
import { type Guide, networkField } from "./guide.ts";
import { readOnChain } from "./readable-chains.ts";
import { jsonOutput } from "./result.ts";
import { slotsOf } from "./template.ts";
import { auditEvmToken } from "./token-audit/evm-token.ts";
import { auditHederaToken } from "./token-audit/hedera-token.ts";

const settings = z.strictObject({
  /** Templates: a CAIP-2 network, and a token id or contract address on it. */
  network: z.string().min(1).max(100).default("{{network}}"),
  token: z.string().min(1).max(100).default("{{token}}"),
});

const guide: Guide = {
  kind: "ledgers",
  icon: "shield",
  does:
    "What the issuer of a token can do to those who hold it: keys, supply, fees, freeze, proxy, blacklist. JSON with findings and a " +
    "score of 0 to 100.",
  settings: { network: "template: CAIP-2", token: "template: a token id, or a contract's address" },
  template: (chains) => ({
    name: "Token audit",
    description: "What the issuer of a token can do to those who hold it, with a score.",
    category: "security",
    tags: ["token", "audit"],
    price_credits: 5,
    fields: [
      networkField(chains),
      {
        name: "token",
        label: "Token",
        type: "string",
        required: true,
        max_length: 100,
        description: "A token id, or the address of its contract.",
        example: chains.readable[0]?.usdc ?? "0.0.456858",
      },
    ],
    accepts_extra_instructions: false,
    settings: { network: "{{network}}", token: "{{token}}" },
  }),
};

/** What the issuer of a token can do to its holders, as JSON with findings and a score. */
export const tokenAudit: Connector<z.infer<typeof settings>> = {
  id: "token-audit",
  guide,
  timeLimitMs: 60_000,
  usualSeconds: [2, 15],
  permanent: false,
  settings,
  outputKind: () => "json",
  slots: ({ network, token }) => slotsOf({ network, token }),
  run: async (call, tools) => {
    const { network: template, token: subject } = call.settings;
    const readers = { hedera: auditHederaToken, evm: auditEvmToken };
    const { network, found } = await readOnChain(call, tools, { network: template, subject }, readers);
    return { output: jsonOutput({ network, ...found }) };
  },
};
