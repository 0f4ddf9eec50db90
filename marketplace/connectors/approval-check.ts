import { z } from "zod";
import { readEvmApprovals } from "./approval-check/evm-approvals.ts";
import { readHederaAllowances } from "./approval-check/hedera-allowances.ts";
import { type Connector, jsonOutput } from "./connector.ts";
import { readOnLedger } from "./readable-ledgers.ts";
import { slotsOf } from "./template.ts";

const settings = z.strictObject({
  /** Templates: a CAIP-2 network, and an account id or address on it. */
  network: z.string().min(1).max(100).default("{{network}}"),
  wallet: z.string().min(1).max(100).default("{{wallet}}"),
  /** How far back approvals are looked for on an EVM chain. */
  blocks: z.int().min(1).max(10_000_000).default(200_000),
});

/** Who may take what out of a wallet right now, as JSON. */
export const approvalCheck: Connector<z.infer<typeof settings>> = {
  id: "approval-check",
  timeLimitMs: 90_000,
  permanent: false,
  settings,
  outputKind: () => "json",
  slots: ({ network, wallet }) => slotsOf({ network, wallet }),
  run: async (call, tools) => {
    const { network: template, wallet: subject, blocks } = call.settings;
    const { network, found } = await readOnLedger(
      call,
      tools,
      { network: template, subject },
      {
        hedera: readHederaAllowances,
        evm: (client, wallet) => readEvmApprovals(client, wallet, BigInt(blocks), call.signal),
      },
    );
    return { output: jsonOutput({ network, ...found }) };
  },
};
