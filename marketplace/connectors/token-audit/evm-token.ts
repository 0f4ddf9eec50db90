import { type Address, erc20Abi, isAddressEqual, type PublicClient, zeroAddress } from "viem";
import { answerOf, textOfContract } from "../evm.ts";
import { ConnectorError } from "../result.ts";
import { findProxy, hasAnyOf, selectorsIn, type TokenProxy } from "./evm-code.ts";
import { type Tried, tryTransfer } from "./evm-transfer.ts";
import { type Finding, finding, graded } from "./findings.ts";

/** Reads from the code and the state of an ERC-20 its owner's powers, and tries what a transfer of it really does. */
export async function auditEvmToken(client: PublicClient, address: Address): Promise<object> {
  const code = await client.getCode({ address });
  if (!code || code === "0x") throw new ConnectorError("There is no contract at this address.");
  const view = <Name extends "name" | "symbol" | "decimals" | "totalSupply">(functionName: Name) =>
    answerOf(client.readContract({ abi: erc20Abi, address, functionName }));
  const [name, symbol, decimals, totalSupply, proxy, owner, paused, tried] = await Promise.all([
    view("name"),
    view("symbol"),
    view("decimals"),
    view("totalSupply"),
    findProxy(client, address, code),
    read<Address>(client, address, "owner", "address"),
    read<boolean>(client, address, "paused", "bool"),
    tryTransfer(client, address),
  ]);
  if (totalSupply === undefined) throw new ConnectorError("The contract at this address is no ERC-20 token.");
  const behind = proxy && (await client.getCode({ address: proxy.implementation }));
  const selectors = new Set([...selectorsIn(code), ...selectorsIn(behind ?? "0x")]);
  const can = {
    mint: hasAnyOf(selectors, signatures.mint),
    pause: hasAnyOf(selectors, signatures.pause),
    blacklist: hasAnyOf(selectors, signatures.blacklist),
    set_fees: hasAnyOf(selectors, signatures.fees),
  };
  const isOwned = owner !== undefined && !isAddressEqual(owner, zeroAddress);
  const { score, findings } = graded(findingsOf({ proxy, isOwned, paused: paused ?? false, can, tried }));
  return {
    token: { address, name: textOf(name), symbol: textOf(symbol), decimals: decimals ?? null },
    supply: { total: String(totalSupply) },
    owner: owner ?? null,
    renounced: owner === undefined ? null : !isOwned,
    proxy: proxy ?? null,
    can,
    paused: paused ?? false,
    transfer: saidOf(tried),
    score,
    findings,
  };
}

interface Facts {
  readonly proxy: TokenProxy | undefined;
  readonly isOwned: boolean;
  readonly paused: boolean;
  readonly can: Readonly<Record<"mint" | "pause" | "blacklist" | "set_fees", boolean>>;
  readonly tried: Tried | undefined;
}

function findingsOf({ proxy, isOwned, paused, can, tried }: Facts): Finding[] {
  const found: Array<Finding | false | undefined> = [
    proxy &&
      proxy.kind !== "eip-1167" &&
      finding("high", "upgradeable", "What the token does can be replaced (proxy)."),
    isOwned && finding("low", "owner", "The contract has an owner with rights of its own."),
    can.mint && finding("high", "mint", "There is a function to mint more tokens."),
    can.pause && finding("medium", "pause", "There is a function to stop all transfers."),
    paused && finding("high", "paused", "Transfers are paused."),
    can.blacklist && finding("medium", "blacklist", "There is a function to shut single addresses out."),
    can.set_fees && finding("medium", "fee_setter", "There is a function to change fees on transfers."),
    tried === undefined && finding("info", "transfer_untested", "A transfer could not be tried."),
    tried?.outcome === "reverted" && !paused && finding("critical", "transfer_reverts", "A holder's transfer fails."),
    tried?.outcome === "moved" && lossFinding(tried.amount, tried.received),
  ];
  return found.filter((one): one is Finding => Boolean(one));
}

function lossFinding(amount: bigint, received: bigint): Finding | undefined {
  if (received >= amount) return undefined;
  if (received <= 0n) return finding("critical", "transfer_lies", "A transfer reports success and delivers nothing.");
  const percent = Number(((amount - received) * 10_000n) / amount) / 100;
  return finding(percent > 10 ? "high" : "medium", "fee_on_transfer", `A transfer loses ${percent} % on the way.`);
}

function saidOf(tried: Tried | undefined): object {
  if (!tried) return { tested: false };
  if (tried.outcome === "reverted") return { tested: true, works: false };
  const loss = tried.amount - tried.received;
  return { tested: true, works: tried.received > 0n, fee_rate: Number((loss * 10_000n) / tried.amount) / 10_000 };
}

function textOf(text: string | undefined): string | null {
  return text === undefined ? null : textOfContract(text, 200);
}

function read<T>(client: PublicClient, address: Address, functionName: string, type: string): Promise<T | undefined> {
  const abi = [
    { type: "function", name: functionName, stateMutability: "view", inputs: [], outputs: [{ type }] },
  ] as const;
  return answerOf(client.readContract({ abi, address, functionName }) as Promise<T>);
}

const signatures = {
  mint: ["mint(address,uint256)", "mint(uint256)", "mint(address)", "issue(uint256)", "mintTo(address,uint256)"],
  pause: ["pause()", "setPaused(bool)", "enableTrading(bool)", "setTradingEnabled(bool)"],
  blacklist: [
    "blacklist(address)",
    "isBlacklisted(address)",
    "addBlackList(address)",
    "isBlackListed(address)",
    "addToBlacklist(address)",
    "setBlacklist(address,bool)",
    "setBots(address[])",
    "freeze(address)",
    "isBlocked(address)",
  ],
  fees: [
    "setFee(uint256)",
    "setFees(uint256,uint256)",
    "setTaxFeePercent(uint256)",
    "setBuyFee(uint256)",
    "setSellFee(uint256)",
    "setTax(uint256)",
    "setTaxes(uint256,uint256)",
    "setParams(uint256,uint256)",
    "updateFees(uint256,uint256)",
  ],
} as const;
