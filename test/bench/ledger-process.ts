import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PrivateKey } from "@hashgraph/sdk";
import { compiled } from "../support/compiled.ts";
import type { HederaBuyer } from "../support/hedera-payments.ts";

/** The local Hedera in a process of its own, as a network would be. With a state file it can be stopped and go on. */
export async function startLedger(options: { stateFile?: string } = {}): Promise<LedgerProcess> {
  const state = options.stateFile === undefined ? {} : { LOCAL_HEDERA_STATE_FILE: options.stateFile };
  let { child, ready } = await launch({ ...freePorts, ...state });
  const stop = async () => {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  };
  const ports = {
    LOCAL_HEDERA_NODE_PORTS: Object.keys(ready.nodes).map(portOf).join(","),
    LOCAL_HEDERA_MIRROR_PORT: portOf(ready.mirror),
    LOCAL_HEDERA_ADMIN_PORT: portOf(ready.admin),
  };
  return {
    ...ready,
    stop,
    restart: async () => {
      await stop();
      ({ child, ready } = await launch({ ...ports, ...state }));
    },
  };
}

export interface LedgerProcess {
  readonly nodes: Readonly<Record<string, string>>;
  readonly mirror: string;
  readonly admin: string;
  readonly usdc: string;
  readonly accounts: Readonly<
    Record<"feePayer" | "buyer" | "creator" | "operator", HederaBuyer & { readonly publicKey: string }>
  >;
  stop(): Promise<void>;
  /** Away for a moment, then back on the same ports. */
  restart(): Promise<void>;
}

/** A new account with `units` of USDC, or none. */
export async function newLedgerBuyer(
  ledger: Pick<LedgerProcess, "admin" | "usdc">,
  units: bigint,
): Promise<HederaBuyer> {
  const key = PrivateKey.generateED25519();
  const account = { publicKey: key.publicKey.toStringRaw(), associate: [ledger.usdc] };
  const { accountId } = await askLedger<{ accountId: string }>(ledger, "/accounts", account);
  if (units > 0n) await askLedger(ledger, "/faucet", { account: accountId, amount: units.toString() });
  return { accountId, privateKey: key.toStringDer() };
}

/** Turns the ledger's switches or its faucet. Throws with the ledger's own words when it will not. */
export async function askLedger<Answer>(
  { admin }: Pick<LedgerProcess, "admin">,
  path: string,
  body: object,
): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(admin + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the ledger answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** The daemon's variables for this ledger. */
export function ledgerVariables({ nodes, mirror, accounts: { feePayer } }: LedgerProcess): Record<string, string> {
  return {
    HEDERA_TESTNET_NODES: Object.entries(nodes)
      .map((pair) => pair.join("="))
      .join(","),
    HEDERA_TESTNET_MIRROR: mirror,
    HEDERA_TESTNET_FEE_PAYERS: `${feePayer.accountId}:${feePayer.privateKey}`,
  };
}

const freePorts = { LOCAL_HEDERA_NODE_PORTS: "0,0,0", LOCAL_HEDERA_MIRROR_PORT: "0", LOCAL_HEDERA_ADMIN_PORT: "0" };

async function launch(variables: Record<string, string>): Promise<{ child: ChildProcess; ready: LedgerProcess }> {
  const main = compiled(new URL("../../infra/local-hedera/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, ready: JSON.parse(line.slice(line.indexOf("{"))) };
}

const portOf = (address: string): string => address.slice(address.lastIndexOf(":") + 1);
