import { z } from "zod";
import { type Connector, jsonOutput } from "./connector.ts";
import { readOnLedger } from "./readable-ledgers.ts";
import { slotsOf } from "./template.ts";
import { auditEvmToken } from "./token-audit/evm-token.ts";
import { auditHederaToken } from "./token-audit/hedera-token.ts";

const settings = z.strictObject({
  /** Templates: a CAIP-2 network, and a token id or contract address on it. */
  network: z.string().min(1).max(100).default("{{network}}"),
  token: z.string().min(1).max(100).default("{{token}}"),
});

/** What the issuer of a token can do to its holders, as JSON with findings and a score. */
export const tokenAudit: Connector<z.infer<typeof settings>> = {
  id: "token-audit",
  timeLimitMs: 60_000,
  permanent: false,
  settings,
  outputKind: () => "json",
  slots: ({ network, token }) => slotsOf({ network, token }),
  run: async (call, tools) => {
    const { network: template, token: subject } = call.settings;
    const readers = { hedera: auditHederaToken, evm: auditEvmToken };
    const { network, found } = await readOnLedger(call, tools, { network: template, subject }, readers);
    return { output: jsonOutput({ network, ...found }) };
  },
};
