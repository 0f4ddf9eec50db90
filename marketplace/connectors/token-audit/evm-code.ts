import {
  type Address,
  getAddress,
  type Hex,
  isAddressEqual,
  type PublicClient,
  toFunctionSelector,
  zeroAddress,
} from "viem";

import { answerOf } from "../evm.ts";

/** Where proxies keep the address of their implementation: EIP-1967, and the older slot that FiatToken and others use. */
const slots = {
  implementation: "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
  beacon: "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50",
  admin: "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103",
  zeppelin: "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
} as const;

export interface TokenProxy {
  readonly kind: "eip-1967" | "beacon" | "eip-1167" | "zeppelinos";
  readonly implementation: Address;
  readonly admin: Address | null;
}

/** The implementation behind a contract that is a proxy. EIP-1167 cannot change its implementation; the others can. */
export async function findProxy(client: PublicClient, address: Address, code: Hex): Promise<TokenProxy | undefined> {
  const minimal = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/.exec(code);
  if (minimal) return { kind: "eip-1167", implementation: getAddress(`0x${minimal[1]}`), admin: null };
  const read = async (slot: Hex) => asAddress(await client.getStorageAt({ address, slot }));
  const [implementation, beacon, admin, zeppelin] = await Promise.all([
    read(slots.implementation),
    read(slots.beacon),
    read(slots.admin),
    read(slots.zeppelin),
  ]);
  if (implementation) return { kind: "eip-1967", implementation, admin: admin ?? null };
  if (zeppelin) return { kind: "zeppelinos", implementation: zeppelin, admin: admin ?? null };
  if (!beacon) return undefined;
  const behind = await answerOf(
    client.readContract({ address: beacon, abi: beaconAbi, functionName: "implementation" }),
  );
  return behind && { kind: "beacon", implementation: behind, admin: beacon };
}

/** The functions that deployed code dispatches to: every four bytes it pushes. */
export function selectorsIn(code: Hex): ReadonlySet<string> {
  const bytes = Buffer.from(code.slice(2), "hex");
  const found = new Set<string>();
  for (let at = 0; at < bytes.length; at += 1) {
    const opcode = bytes[at]!;
    if (opcode === push4) found.add(bytes.subarray(at + 1, at + 5).toString("hex"));
    // PUSH1 to PUSH32 carry data that is no code.
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  return found;
}

export function hasAnyOf(selectors: ReadonlySet<string>, signatures: readonly string[]): boolean {
  return signatures.some((signature) => selectors.has(toFunctionSelector(signature).slice(2)));
}

const push4 = 0x63;
const beaconAbi = [
  { type: "function", name: "implementation", stateMutability: "view", inputs: [], outputs: [{ type: "address" }] },
] as const;

function asAddress(word: Hex | undefined): Address | undefined {
  if (!word || word.length < 42) return undefined;
  const address = getAddress(`0x${word.slice(-40)}`);
  return isAddressEqual(address, zeroAddress) ? undefined : address;
}
