import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  erc20Abi,
  type Hex,
  type PublicClient,
  parseAbi,
  toHex,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readEvmApprovals } from "../../../marketplace/connectors/approval-check/evm-approvals.ts";
import { EvmChains, textOfContract } from "../../../marketplace/connectors/evm.ts";
import { tryTransfer } from "../../../marketplace/connectors/token-audit/evm-transfer.ts";
import { elapse } from "../../support/elapse.ts";
import { type HttpServer, startHttpServer } from "../../support/http-server.ts";

/** A node whose contracts and blocks belong to strangers. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request) text += chunk;
  const asked: Question | Question[] = JSON.parse(text);
  underWay += 1;
  underWayMax = Math.max(underWayMax, underWay);
  if (pauseMs > 0) await elapse(pauseMs, "how long the node takes to answer");
  underWay -= 1;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked)));
}

let node: HttpServer;
let client: PublicClient;
beforeAll(async () => {
  node = await startHttpServer(answer);
  client = new EvmChains({ "eip155:1": node.url }).client("eip155:1")!;
});
afterAll(() => node.stop());

const latest = 100_000n;
const wallet = address(1);
const huge = `0x${"00".repeat(6_000_000)}` as Hex;
const yes = encodeAbiParameters([{ type: "uint256" }], [5n]);
const symbol = encodeAbiParameters([{ type: "string" }], ["TKN"]);
type Called = "allowance" | "balanceOf" | "symbol" | "isApprovedForAll";
let logs: Array<{ block: bigint; rows: object[] }> = [];
let contracts = new Map<Address, Partial<Record<Called, Hex | "reverts" | "fails">>>();
let rangeMax = latest;
let ranges: Array<{ from: bigint; to: bigint }> = [];
let [underWay, underWayMax, pauseMs] = [0, 0, 0];
beforeEach(() => {
  [logs, contracts, rangeMax, ranges] = [[], new Map(), latest, []];
  [underWayMax, pauseMs] = [0, 0];
});

const check = (blocks = 90_000n) => readEvmApprovals(client, wallet, blocks, AbortSignal.timeout(60_000));
const approval = (token: Address, spender = address(2)) => ({
  address: token,
  topics: encodeEventTopics({ abi: erc20Abi, eventName: "Approval", args: { owner: wallet, spender } }),
  data: yes,
});
/** As many logs as are too large an answer; more of them would only slow the test. */
const tooMany = 3_000;
const spam = (block: bigint) => {
  logs.push({ block, rows: new Array(tooMany).fill(rowOf(block, approval(address(9), address(9)))) });
};
/** A token that was approved in this block. */
const approved = (block: bigint, id: number, answers: object = {}) => {
  logs.push({ block, rows: [rowOf(block, approval(address(id)))] });
  contracts.set(address(id), { allowance: yes, balanceOf: yes, symbol, ...answers });
};

test("a block full of a wallet's approvals is left out, and said to be, and hides none before and after it", async () => {
  approved(99_000n, 20);
  approved(98_000n, 21);
  approved(20_000n, 22);
  spam(98_500n);
  expect(await check()).toMatchObject({
    scanned: { from_block: 10_000, complete: false },
    approvals: [20, 21, 22].map((id) => ({ token: address(id), symbol: "TKN", amount: "5" })),
  });
  expect(ranges.length).toBeLessThan(60);
});

test("the search ends where a wallet's approvals fill block after block", async () => {
  approved(99_999n, 20);
  for (let block = 99_900n; block < 99_990n; block += 1n) spam(block);
  const { scanned, approvals } = (await check()) as {
    scanned: { from_block: number; complete: boolean };
    approvals: [];
  };
  expect(approvals).toHaveLength(1);
  expect(scanned.complete).toBe(false);
  expect(scanned.from_block).toBeGreaterThan(99_900);
  expect(ranges.length).toBeLessThan(120);
});

test("fewer blocks are asked for where the node refuses as many", async () => {
  rangeMax = 2_000n;
  approved(95_000n, 20);
  expect(await check(20_000n)).toMatchObject({ scanned: { complete: true }, summary: { total: 1 } });
});

test("a token that answers without end hides no other token's approval", async () => {
  approved(99_000n, 20);
  approved(99_001n, 21, { allowance: huge });
  approved(99_002n, 22, { symbol: huge });
  const checked = (await check()) as { approvals: object[]; scanned: object };
  expect(checked).toMatchObject({
    scanned: { complete: false },
    approvals: [20, 22].map((id) => ({ token: address(id) })),
  });
  expect(checked.approvals[1]).not.toHaveProperty("symbol", expect.any(String));
});

test("a contract's answer that is longer than any number or name is not read, however many contracts answer so", async () => {
  const long = `${yes}${"00".repeat(10_000)}` as const;
  approved(99_000n, 20);
  approved(99_001n, 21, { allowance: long });
  approved(99_002n, 22, { balanceOf: long });
  expect(await check()).toMatchObject({ scanned: { complete: false }, approvals: [{ token: address(20) }] });
});

test("a collection without a balance of all its tokens (ERC-1155) is shown with none, and one that the node does not tell is missing", async () => {
  const all = parseAbi(["event ApprovalForAll(address indexed owner, address indexed operator, bool approved)"]);
  const args = { owner: wallet, operator: address(2) };
  const open = (id: number, answers: object) => {
    const topics = encodeEventTopics({ abi: all, eventName: "ApprovalForAll", args });
    logs.push({ block: 99_000n, rows: [rowOf(99_000n, { address: address(id), topics, data: yes })] });
    contracts.set(address(id), answers);
  };
  const truth = encodeAbiParameters([{ type: "bool" }], [true]);
  open(20, { isApprovedForAll: truth, balanceOf: "reverts", symbol: "0x" });
  open(21, { isApprovedForAll: "fails" });
  open(22, { isApprovedForAll: "reverts" });
  const { approvals, scanned } = (await check()) as { approvals: object[]; scanned: object };
  expect(approvals).toMatchObject([{ kind: "nft", token: address(20), unlimited: true, risk: "high" }]);
  expect(approvals[0]).not.toHaveProperty("balance");
  expect(scanned).toMatchObject({ complete: false });
});

test("a contract without allowances is none of them, and nothing is missing then", async () => {
  approved(99_000n, 20);
  approved(99_001n, 21, { allowance: "reverts" });
  approved(99_001n, 23, { allowance: "0x" });
  expect(await check()).toMatchObject({ scanned: { complete: true }, summary: { total: 1 } });
});

test("an approval of a token whose balance the node does not tell is left out, and said to be missing: it is not shown as of nothing", async () => {
  approved(99_000n, 20);
  approved(99_001n, 21, { balanceOf: "fails" });
  approved(99_002n, 22, { balanceOf: huge });
  expect(await check()).toMatchObject({
    scanned: { complete: false },
    approvals: [{ token: address(20), balance: "5" }],
    summary: { total: 1 },
  });
});

test("a token without balances has none, and nothing is missing then", async () => {
  approved(99_000n, 20, { balanceOf: "reverts" });
  approved(99_001n, 21, { balanceOf: "0x" });
  expect(await check()).toMatchObject({
    scanned: { complete: true },
    approvals: [{ balance: "0" }, { balance: "0" }],
  });
});

test("strangers' tokens are read a few at a time", async () => {
  for (let id = 1; id <= 60; id += 1) approved(99_000n, 1_000 + id);
  pauseMs = 10;
  expect(await check()).toMatchObject({ scanned: { complete: true }, summary: { total: 60 } });
  expect(underWayMax).toBeLessThanOrEqual(24);
});

test("a transfer of a busy token is tried by a holder of its newest blocks", async () => {
  const token = address(30);
  contracts.set(token, { balanceOf: yes });
  for (let block = latest - 3_000n; block <= latest; block += 1n) {
    const args = { from: wallet, to: address(Number(block)) };
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args });
    logs.push({ block, rows: new Array(20).fill(rowOf(block, { address: token, topics, data: yes })) });
  }
  expect(await tryTransfer(client, token)).toEqual({ amount: 5n, outcome: "moved", received: 5n });
  expect(ranges).toEqual([{ from: latest - 15n, to: latest }]);
});

test("a contract's text is cut to whole characters the database takes", () => {
  expect(textOfContract("a\0b😀c", 4)).toBe("ab\uFFFD");
  expect(textOfContract("a".repeat(1_000_000), 50)).toBe("a".repeat(50));
});

interface Question {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly [Asked];
}

function answerTo({ id, method, params }: Question): object {
  const answer = resultOf(method, params?.[0]);
  return answer instanceof Error
    ? {
        jsonrpc: "2.0",
        id,
        error: { code: answer.message === "execution reverted" ? 3 : -32602, message: answer.message },
      }
    : { jsonrpc: "2.0", id, result: answer };
}

interface Asked {
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
  readonly to: Address;
  readonly data: Hex;
}

function resultOf(method: string, asked: Asked | undefined): unknown {
  if (method === "eth_blockNumber") return toHex(latest);
  if (method === "eth_getCode") return "0x60";
  if (method === "eth_simulateV1") {
    const said = (value: bigint) => ({
      status: "0x1",
      returnData: encodeAbiParameters([{ type: "uint256" }], [value]),
    });
    return [{ calls: [said(0n), said(1n), said(5n)] }];
  }
  if (!asked) throw new Error(method);
  if (method === "eth_getLogs") {
    const [from, to] = [BigInt(asked.fromBlock), BigInt(asked.toBlock)];
    ranges.push({ from, to });
    if (to - from >= rangeMax) return new Error("block range is too wide");
    const found: object[] = [];
    for (const { block, rows } of logs) {
      if (block >= from && block <= to) found.push(...rows);
      if (found.length >= tooMany) break;
    }
    return found;
  }
  const called = contracts.get(asked.to.toLowerCase() as Address);
  const name = {
    "0xdd62ed3e": "allowance",
    "0x70a08231": "balanceOf",
    "0x95d89b41": "symbol",
    "0xe985e9c5": "isApprovedForAll",
  }[asked.data.slice(0, 10)];
  const answer = called?.[name as "symbol"] ?? "0x";
  if (answer === "fails") return new Error("over rate limit");
  return answer === "reverts" ? new Error("execution reverted") : answer;
}

function rowOf(block: bigint, log: object): object {
  const hash = `0x${"08".repeat(32)}`;
  const place = { blockHash: hash, transactionHash: hash, transactionIndex: "0x0", logIndex: "0x0", removed: false };
  return { ...log, ...place, blockNumber: toHex(block) };
}

function address(id: number): Address {
  return `0x${id.toString(10).padStart(40, "0")}`;
}
