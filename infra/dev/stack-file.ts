import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { stackFileOf } from "./settings.ts";

/** Where a running stack is and what it was seeded with, for scripts. The file is there only while the stack runs. */
export interface StackFile {
  readonly marketplace: string;
  readonly facilitator: string;
  readonly hedera: {
    readonly network: string;
    /** gRPC address → node account id. */
    readonly nodes: Readonly<Record<string, string>>;
    readonly mirror: string;
    readonly usdc: string;
    readonly feePayer: string;
  };
  readonly evm: {
    readonly network: string;
    readonly rpc: string;
    readonly usdc: `0x${string}`;
    readonly feePayer: `0x${string}`;
  };
  readonly demo: {
    readonly apiKey: string;
    readonly creator: string;
    readonly agents: readonly string[];
    readonly buyer: {
      readonly hedera: { readonly accountId: string; readonly privateKey: string };
      readonly evm: { readonly address: `0x${string}`; readonly privateKey: `0x${string}` };
    };
  };
}

export function writeStackFile(dataDirectory: string, stack: StackFile): void {
  const file = stackFileOf(dataDirectory);
  writeFileSync(`${file}.new`, `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function removeStackFile(dataDirectory: string): void {
  rmSync(stackFileOf(dataDirectory), { force: true });
}

/** Throws with a message for a person when no stack runs. */
export function readStackFile(dataDirectory: string): StackFile {
  try {
    return JSON.parse(readFileSync(stackFileOf(dataDirectory), "utf8")) as StackFile;
  } catch {
    throw new Error(`No stack is running (there is no ${stackFileOf(dataDirectory)}). Start one with: npm start`);
  }
}
