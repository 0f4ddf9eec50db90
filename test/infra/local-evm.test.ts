import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Address,
  type BaseError,
  createPublicClient,
  createTestClient,
  createWalletClient,
  getAddress,
  type Hex,
  http,
  parseEventLogs,
  parseSignature,
  publicActions,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  feeOnTransferToken,
  gasBurningToken,
  lyingToken,
  ownerWallet,
  revertingToken,
  silentToken,
  usdcStandIn,
} from "../../infra/local-evm/artifacts.ts";
import { type EvmChain, startEvmChain, startSteadyEvmChain } from "../../infra/local-evm/chain.ts";
import { compileContracts } from "../../infra/local-evm/compile.ts";

const abi = usdcStandIn.abi;
const stranger = getAddress("0x00000000000000000000000000000000000000bb");
const payee = getAddress("0x00000000000000000000000000000000000000cc");
let chain: EvmChain;

beforeAll(async () => {
  chain = await startEvmChain();
});
afterAll(() => chain.stop());

test("the committed artifacts are what the contracts compile to", async () => {
  const committed = await readFile(new URL("../../infra/local-evm/artifacts.ts", import.meta.url), "utf8");
  expect(await compileContracts()).toBe(committed);
});

test("the chain is Base Sepolia by id, with Multicall3 and a USDC whose domain is Circle's, at their public addresses", async () => {
  const client = reader(chain);
  expect(await client.getChainId()).toBe(84532);
  const contracts = (["name", "version", "decimals", "DOMAIN_SEPARATOR"] as const).map((functionName) => {
    return { abi, address: chain.usdc, functionName } as const;
  });
  const multicallAddress = "0xcA11bde05977b3631167028862bE2a173976CA11";
  const answers = await client.multicall({ contracts, multicallAddress, allowFailure: false });
  // The separator of USDC on Base Sepolia, as Circle's own contract there answers it.
  const separator = "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818";
  expect(answers).toEqual(["USDC", "2", 6, separator]);
});

test("no account of anvil's public mnemonic owns anything", async () => {
  const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
  expect(await reader(chain).getBalance({ address })).toBe(0n);
});

test("funding adds, and twenty fundings at once all arrive", async () => {
  const address = payer().address;
  await Promise.all(Array.from({ length: 20 }, () => chain.fund(address, { usdc: 5n })));
  await chain.fund(address, { wei: 7n, usdc: 1n });
  await chain.fund(address, { wei: 7n });
  expect(await balance(chain.usdc, address)).toBe(101n);
  expect(await reader(chain).getBalance({ address })).toBe(14n);
});

test("nobody but the local chain itself can mint", async () => {
  const thief = await fundedPayer();
  const mint = { abi, address: chain.usdc, functionName: "mint", args: [thief.address, 1n] } as const;
  await expect(reader(chain).simulateContract({ ...mint, account: thief })).rejects.toThrow("caller is not a minter");
});

test.each(["vrs", "bytes"] as const)("an authorization moves the money once, as (%s)", async (form) => {
  const from = await fundedPayer();
  const signed = await authorize(from, { value: 40n });
  const receipt = await submit(signed, form);
  const events = parseEventLogs({ abi, logs: receipt.logs });
  expect(events.map(({ eventName, args }) => [eventName, args])).toEqual([
    ["AuthorizationUsed", { authorizer: from.address, nonce: signed.nonce }],
    ["Transfer", { from: from.address, to: payee, value: 40n }],
  ]);
  const state = { abi, address: chain.usdc, functionName: "authorizationState" } as const;
  expect(await reader(chain).readContract({ ...state, args: [from.address, signed.nonce] })).toBe(true);
  expect(await balance(chain.usdc, from.address)).toBe(60n);
  expect(await refusal(signed, form)).toContain("FiatTokenV2: authorization is used or canceled");
});

test("what Circle's token refuses is refused in the same words", async () => {
  const from = await fundedPayer();
  const now = BigInt(Math.floor(Date.now() / 1000));
  const refused = async (change: Partial<Authorization>, by = from) => refusal(await authorize(by, change), "vrs");
  expect(await refused({ validBefore: now - 60n })).toContain("FiatTokenV2: authorization is expired");
  expect(await refused({ validAfter: now + 600n })).toContain("FiatTokenV2: authorization is not yet valid");
  expect(await refused({ value: 101n })).toContain("ERC20: transfer amount exceeds balance");
  expect(await refused({ from: stranger })).toContain("FiatTokenV2: invalid signature");
  const signed = await authorize(from, {});
  expect(await refusal({ ...signed, value: 2n }, "bytes")).toContain("FiatTokenV2: invalid signature");
  expect(await refusal({ ...signed, signature: `${signed.signature}00` }, "bytes")).toContain("invalid signature");
  expect(await refusal({ ...signed, signature: malleated(signed.signature) }, "vrs")).toContain("invalid signature");
});

test("only the payee can use a receive authorization, and a canceled one is dead", async () => {
  const from = await fundedPayer();
  const signed = await authorize(from, { to: stranger }, "ReceiveWithAuthorization");
  const receive = { abi, address: chain.usdc, functionName: "receiveWithAuthorization", args: argsOf(signed) } as const;
  const as = (account: Address) => reader(chain).simulateContract({ ...receive, account });
  await expect(as(payee)).rejects.toThrow("FiatTokenV2: caller must be the payee");
  await expect(as(stranger)).resolves.toBeDefined();

  const message = { authorizer: from.address, nonce: signed.nonce };
  const signature = await from.signTypedData({ domain: domain(), types, primaryType: "CancelAuthorization", message });
  const cancel = { abi, address: chain.usdc, functionName: "cancelAuthorization" } as const;
  const hash = await writer(from).writeContract({ ...cancel, args: [from.address, signed.nonce, signature] });
  const { logs } = await chain.receipt(hash);
  expect(parseEventLogs({ abi, logs }).map(({ eventName }) => eventName)).toEqual(["AuthorizationCanceled"]);
  await expect(as(stranger)).rejects.toThrow("FiatTokenV2: authorization is used or canceled");
});

test("a smart wallet pays by its owner's signature and by no other", async () => {
  const owner = await fundedPayer();
  const wallet = await chain.deploy(ownerWallet, [owner.address]);
  await chain.fund(wallet, { usdc: 9n });
  const signed = await authorize(owner, { from: wallet, value: 9n });
  expect(await refusal(await authorize(payer(), { from: wallet, value: 9n }), "bytes")).toContain("invalid signature");
  await submit(signed, "bytes");
  expect(await balance(chain.usdc, wallet)).toBe(0n);
});

test("each hostile token cheats as its name says", async () => {
  const outcome = async (artifact: typeof silentToken | typeof lyingToken | typeof feeOnTransferToken) => {
    const token = await chain.deploy(artifact);
    const from = await fundedPayer(token);
    const to = payer().address;
    const signed = await authorize(from, { to, value: 50n }, "TransferWithAuthorization", token);
    const logs = parseEventLogs({ abi, logs: (await submit(signed, "vrs", token)).logs });
    const said = logs.flatMap(({ eventName, args }) =>
      eventName === "Transfer" && args.to === to ? [args.value] : [],
    );
    return { said, received: await balance(token, to) };
  };
  expect(await outcome(silentToken)).toEqual({ said: [], received: 0n });
  expect(await outcome(lyingToken)).toEqual({ said: [50n], received: 0n });
  expect(await outcome(feeOnTransferToken)).toEqual({ said: [45n], received: 45n });

  const reverting = await chain.deploy(revertingToken);
  const from = await fundedPayer(reverting);
  const signed = await authorize(from, {}, "TransferWithAuthorization", reverting);
  expect(await refusal(signed, "vrs", reverting)).toBe("accepted");
  expect((await submit(signed, "vrs", reverting)).status).toBe("reverted");

  const burning = await chain.deploy(gasBurningToken);
  const burnt = await authorize(await fundedPayer(burning), {}, "TransferWithAuthorization", burning);
  expect(await refusal(burnt, "vrs", burning)).not.toBe("accepted");
});

test("a restart keeps balances and used authorizations, and the clock is the machine's again", async () => {
  const directory = await mkdtemp(join(tmpdir(), "local-evm-"));
  const stateFile = join(directory, "state.json");
  try {
    const first = await startEvmChain({ stateFile });
    expect(first.origin).toBe("nothing");
    await first.fund(stranger, { wei: 5n, usdc: 12n });
    const { hash } = await reader(first).getBlock();
    await first.stop();

    const second = await startEvmChain({ stateFile, blockTimeSeconds: 1 });
    expect(second.origin).toBe("state file");
    expect(await balance(second.usdc, stranger, second)).toBe(12n);
    expect((await reader(second).getBlock({ blockHash: hash })).hash).toBe(hash);
    await expect.poll(() => clockLagSeconds(second)).toBeLessThanOrEqual(2);
    await second.stop();

    await writeFile(stateFile, (await readFile(stateFile)).subarray(0, 1000));
    const third = await startEvmChain({ stateFile });
    expect(third.origin).toBe("older copy of the state file");
    expect(await balance(third.usdc, stranger, third)).toBe(12n);
    await third.stop();
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a restart after thousands of empty blocks goes on from the newest, with what was mined before them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "local-evm-"));
  const stateFile = join(directory, "state.json");
  try {
    const first = await startEvmChain({ stateFile });
    await first.fund(stranger, { usdc: 12n });
    const { hash, number } = await reader(first).getBlock();
    // Asked again for want of patience, it would mine as many once more.
    const transport = http(first.rpcUrl, { timeout: 50_000, retryCount: 0 });
    const miner = createTestClient({ mode: "anvil", transport });
    for (let mined = 0; mined < 3_000; mined += 200) await miner.mine({ blocks: 200 });
    await first.stop();

    const second = await startEvmChain({ stateFile });
    expect(second.origin).toBe("state file");
    expect(await reader(second).getBlockNumber()).toBeGreaterThanOrEqual(number + 3_000n);
    expect(await balance(second.usdc, stranger, second)).toBe(12n);
    expect((await reader(second).getBlock({ blockHash: hash })).hash).toBe(hash);
    await second.stop();
    expect((await stat(stateFile)).size).toBeLessThan(3_000_000);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a chain that is killed says so", async () => {
  const killed = await startEvmChain();
  process.kill(killed.pid, "SIGKILL");
  expect((await killed.died).message).toBe("EVM chain (anvil) was ended by SIGKILL");
});

test("the chain outlives a killed parent, goes on making blocks, and still writes its state when asked to stop", async () => {
  const directory = await mkdtemp(join(tmpdir(), "local-evm-"));
  const stateFile = join(directory, "state.json");
  const chainModule = new URL("../../infra/local-evm/chain.ts", import.meta.url).href;
  const program = `
    const { startEvmChain } = await import(${JSON.stringify(chainModule)});
    const chain = await startEvmChain({ stateFile: ${JSON.stringify(stateFile)}, blockTimeSeconds: 1 });
    await chain.fund("${stranger}", { usdc: 3n });
    console.log(JSON.stringify(chain));
    setInterval(() => {}, 1000);`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", program];
  const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const orphan = JSON.parse(line.toString()) as EvmChain;
  try {
    parent.kill("SIGKILL");
    await once(parent, "exit");
    const height = await reader(orphan).getBlockNumber();
    await expect.poll(() => reader(orphan).getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(height);
    process.kill(orphan.pid, "SIGINT");
    await expect.poll(() => exists(orphan.pid)).toBe(false);
    const next = await startEvmChain({ stateFile });
    expect(await balance(next.usdc, stranger, next)).toBe(3n);
    await next.stop();
  } finally {
    if (exists(orphan.pid)) process.kill(orphan.pid, "SIGKILL");
    await rm(directory, { recursive: true });
  }
});

test("with interval mining a transaction waits for its block", async () => {
  const slow = await startEvmChain({ blockTimeSeconds: 1, instant: false, chainId: 8453 });
  try {
    const from = await fundedPayer(slow.usdc, slow);
    const sent: Hex[] = [];
    // A block may be mined before it is asked for; the next transaction then waits.
    const blockOfNext = async () => {
      const hash = await writer(from, slow).sendTransaction({ to: stranger, value: 1n });
      sent.push(hash);
      return (await reader(slow).getTransaction({ hash })).blockNumber;
    };
    await expect.poll(blockOfNext).toBeNull();
    await slow.receipt(sent.at(-1)!);
    expect(await reader(slow).getChainId()).toBe(8453);
  } finally {
    await slow.stop();
  }
});

test("a taken port is said so", async () => {
  const port = Number(new URL(chain.rpcUrl).port);
  await expect(startEvmChain({ port })).rejects.toThrow("EADDRINUSE");
});

test("a steady chain pays like any other and computes no root of its state", async () => {
  const steady = await startSteadyEvmChain();
  try {
    const from = await fundedPayer(steady.usdc, steady);
    await submit(await authorize(from, { value: 40n }), "bytes", steady.usdc, steady);
    expect(await steady.balances(payee)).toEqual({ wei: 0n, usdc: 40n });
    expect((await reader(steady).getBlock()).stateRoot).toBe(`0x${"0".repeat(64)}`);
  } finally {
    await steady.stop();
  }
});

// --- parts -------------------------------------------------------------------------------------------------------

const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

type Account = ReturnType<typeof payer>;
const payer = () => privateKeyToAccount(generatePrivateKey());

async function fundedPayer(token: Address = chain.usdc, on = chain) {
  const account = payer();
  await on.fund(account.address, { wei: 10n ** 18n });
  await on.mint(token, account.address, 100n);
  return account;
}

const domain = (verifyingContract: Address = chain.usdc) => {
  return { name: "USDC", version: "2", chainId: 84532, verifyingContract } as const;
};

async function authorize(
  signer: Account,
  change: Partial<Authorization>,
  primaryType: "TransferWithAuthorization" | "ReceiveWithAuthorization" = "TransferWithAuthorization",
  token?: Address,
): Promise<Signed> {
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 900);
  const plain = {
    from: signer.address,
    to: payee,
    value: 1n,
    validAfter: 0n,
    validBefore,
    nonce: generatePrivateKey(),
  };
  const message = { ...plain, ...change } as Authorization;
  return { ...message, signature: await signer.signTypedData({ domain: domain(token), types, primaryType, message }) };
}

const argsOf = ({ from, to, value, validAfter, validBefore, nonce, signature }: Signed) =>
  [from, to, value, validAfter, validBefore, nonce, signature] as const;

function transferCall(signed: Signed, form: "vrs" | "bytes", token: Address) {
  const call = { abi, address: token, functionName: "transferWithAuthorization" } as const;
  if (form === "bytes") return { ...call, args: argsOf(signed) } as const;
  const { r, s, yParity } = parseSignature(signed.signature);
  const { from, to, value, validAfter, validBefore, nonce } = signed;
  return { ...call, args: [from, to, value, validAfter, validBefore, nonce, yParity + 27, r, s] } as const;
}

/** Sent by another account than the payer, with a fixed gas limit, as a facilitator would. */
async function submit(signed: Signed, form: "vrs" | "bytes", token = chain.usdc, on = chain) {
  const sender = payer();
  await on.fund(sender.address, { wei: 10n ** 18n });
  const call = transferCall(signed, form, token) as Parameters<ReturnType<typeof writer>["writeContract"]>[0];
  const hash = await writer(sender, on).writeContract({ ...call, gas: 200_000n });
  return on.receipt(hash);
}

async function refusal(signed: Signed, form: "vrs" | "bytes", token = chain.usdc): Promise<string> {
  try {
    await reader(chain).simulateContract({ ...transferCall(signed, form, token), gas: 200_000n } as never);
    return "accepted";
  } catch (error) {
    return (error as BaseError).shortMessage;
  }
}

/** The same signature with s mirrored: valid mathematics, refused since EIP-2. */
function malleated(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const { r, s, yParity } = parseSignature(signature);
  const mirrored = (order - BigInt(s)).toString(16).padStart(64, "0");
  return `${r}${mirrored}${yParity === 0 ? "1c" : "1b"}`;
}

const reader = (on: EvmChain) => createPublicClient({ transport: http(on.rpcUrl), pollingInterval: 20 });
const writer = (account: Account, on = chain) =>
  createWalletClient({
    account,
    transport: http(on.rpcUrl),
    chain: {
      id: on.chainId,
      name: "local",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [on.rpcUrl] } },
    },
  }).extend(publicActions);

const balance = (token: Address, address: Address, on = chain) =>
  reader(on).readContract({ abi, address: token, functionName: "balanceOf", args: [address] });

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function clockLagSeconds(on: EvmChain): Promise<number> {
  const { timestamp } = await reader(on).getBlock();
  return Math.abs(Date.now() / 1000 - Number(timestamp));
}

interface Authorization {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

interface Signed extends Authorization {
  signature: Hex;
}
