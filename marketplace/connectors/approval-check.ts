import { z } from "zod";
import { readEvmApprovals } from "./approval-check/evm-approvals.ts";
import { readHederaAllowances } from "./approval-check/hedera-allowances.ts";
import type { Connector } from "./connector.ts";
import { type Guide, networkField } from "./guide.ts";
import { readOnChain } from "./readable-chains.ts";
import { jsonOutput } from "./result.ts";
import { slotsOf } from "./template.ts";

const settings = z.strictObject({
  /** Templates: a CAIP-2 network, and an account id or address on it. */
  network: z.string().min(1).max(100).default("{{network}}"),
  wallet: z.string().min(1).max(100).default("{{wallet}}"),
  /** How far back approvals are looked for on an EVM chain. */
  blocks: z.int().min(1).max(10_000_000).default(200_000),
});

const guide: Guide = {
  kind: "ledgers",
  icon: "list-checks",
  does: "Who may take what out of a wallet right now: allowances and approvals, with amount, spender and risk, as JSON.",
  settings: {
    network: "template: CAIP-2",
    wallet: "template: an account id, or an address",
    blocks: "how far back approvals are looked for on EVM chains",
  },
  template: (chains) => ({
    name: "Approval check",
    description: "Who may take what out of a wallet right now.",
    category: "security",
    tags: ["wallet", "approvals"],
    price_credits: 5,
    fields: [
      networkField(chains),
      {
        name: "wallet",
        label: "Wallet",
        type: "string",
        required: true,
        max_length: 100,
        description: "An account id, or an address.",
        // Accounts that are on every chain of their kind.
        example: (chains.readable[0]?.network ?? "hedera:").startsWith("hedera:")
          ? "0.0.2"
          : "0x0000000000000000000000000000000000000001",
      },
    ],
    accepts_extra_instructions: false,
    settings: { network: "{{network}}", wallet: "{{wallet}}" },
  }),
};

/** Lists the accounts that may take assets out of a wallet right now, and how much, as JSON. */
export const approvalCheck: Connector<z.infer<typeof settings>> = {
  id: "approval-check",
  guide,
  timeLimitMs: 90_000,
  usualSeconds: [2, 15],
  permanent: false,
  settings,
  outputKind: () => "json",
  slots: ({ network, wallet }) => slotsOf({ network, wallet }),
  run: async (call, tools) => {
    const { network: template, wallet: subject, blocks } = call.settings;
    const { network, found } = await readOnChain(
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
