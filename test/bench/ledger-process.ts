import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { HederaBuyer } from "../support/hedera-payments.ts";

/** The dev ledger in a process of its own, as a network would be. */
export async function startLedger(): Promise<Ledger & { stop(): Promise<void> }> {
  const main = fileURLToPath(new URL("../../infra/dev-ledger/main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", main], {
    env: {
      PATH: process.env.PATH,
      DEV_LEDGER_NODE_PORTS: "0,0,0",
      DEV_LEDGER_MIRROR_PORT: "0",
      DEV_LEDGER_ADMIN_PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const ready = JSON.parse(line.slice(line.indexOf("{"))) as Ledger;
  return {
    ...ready,
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** The facilitator's variables for it. */
export function ledgerVariables({ nodes, mirror, accounts }: Ledger): Record<string, string> {
  return {
    HEDERA_TESTNET_NODES: Object.entries(nodes)
      .map((pair) => pair.join("="))
      .join(","),
    HEDERA_TESTNET_MIRROR: mirror,
    HEDERA_TESTNET_FEE_PAYERS: `${accounts.feePayer.accountId}:${accounts.feePayer.privateKey}`,
  };
}

export interface Ledger {
  readonly nodes: Record<string, string>;
  readonly mirror: string;
  readonly usdc: string;
  readonly accounts: Record<"feePayer" | "buyer" | "creator", HederaBuyer & { readonly publicKey: string }>;
}
