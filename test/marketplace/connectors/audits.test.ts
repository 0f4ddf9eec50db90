import { AccountAllowanceApproveTransaction, CustomFractionalFee, TokenCreateTransaction } from "@hashgraph/sdk";
import { createWalletClient, encodeFunctionData, erc20Abi, erc721Abi, http, maxUint256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import {
  feeOnTransferToken,
  lyingToken,
  managedToken,
  plainCollection,
  plainToken,
  proxiedToken,
  revertingToken,
  silentToken,
  usdcStandIn,
} from "../../../infra/local-evm/artifacts.ts";
import type { EvmChain } from "../../../infra/local-evm/chain.ts";
import { readHederaAllowances } from "../../../marketplace/connectors/approval-check/hedera-allowances.ts";
import { Mirror } from "../../../marketplace/connectors/hedera/mirror.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import type { LedgerMarket } from "../../support/ledger-agents.ts";
import { run, seedMarket, startMarketplace } from "../../support/marketplace.ts";
import { kept, perFile } from "../../support/part.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

const evmNetwork = "eip155:84532";
const hedera = "hedera:testnet";
const owner = privateKeyToAccount(generatePrivateKey());
const holder = privateKeyToAccount(generatePrivateKey());
let chain: EvmChain;
let market: LedgerMarket;
let audit: Awaited<ReturnType<typeof seedMarket>>;
let check: Awaited<ReturnType<typeof seedMarket>>;
const test = ledgerMarketTest()
  .extend("node", perFile, ({ chain }, { onCleanup }) => kept(startRpcProxy(chain.rpcUrl), onCleanup))
  .extend("env", perFile, ({ node }) => ({ EVM_RPC_URLS: `${evmNetwork}=${node.url}` }));
test.afterEach(({ node }) => node.behave(() => "pass"));
test.beforeAll(async ({ chain: ownChain, market: started }) => {
  chain = ownChain;
  market = started;
  const fields = (name: string) => [
    { name: "network", type: "string", required: true },
    { name, type: "string", required: true },
  ];
  audit = await seedMarket(market.context, {
    agent: { connector: "token-audit", fields: fields("token"), settings: {} },
    balance: 10_000,
  });
  check = await seedMarket(market.context, {
    agent: { connector: "approval-check", fields: fields("wallet"), settings: {} },
    balance: 10_000,
  });
});

async function audited(network: string, token: string) {
  const { body } = await run(market, audit.key, audit.agent.address, { network, token });
  expect(body).toMatchObject({ success: true, output: { kind: "json" } });
  const { data } = body.output;
  expect(data.score).toBeGreaterThanOrEqual(0);
  expect(data.score).toBeLessThanOrEqual(100);
  return { ...data, ids: data.findings.map(({ id }: { id: string }) => id) };
}

describe("token-audit of an ERC-20", () => {
  const minted = async (artifact: Parameters<EvmChain["deploy"]>[0]) => {
    const token = await chain.deploy(artifact);
    await chain.mint(token, holder.address, 1_000_000_000n);
    return token;
  };

  test("finds nothing in a plain one", async () => {
    const data = await audited(evmNetwork, await chain.deploy(plainToken, [holder.address]));
    expect(data).toMatchObject({
      network: evmNetwork,
      token: { name: "Plain", symbol: "PLN", decimals: 18 },
      supply: { total: "1000000000000000000000000" },
      owner: null,
      renounced: null,
      proxy: null,
      can: { mint: false, pause: false, blacklist: false, set_fees: false },
      transfer: { tested: true, works: true, fee_rate: 0 },
      score: 100,
      findings: [],
    });
  });

  test("sees an owner who can mint and pause, and that it is paused", async () => {
    const token = await chain.deploy(managedToken, [owner.address, holder.address]);
    const data = await audited(evmNetwork, token);
    expect(data).toMatchObject({
      owner: owner.address,
      renounced: false,
      can: { mint: true, pause: true, blacklist: false },
    });
    expect(data.ids).toEqual(["mint", "pause", "owner"]);
    expect(data.score).toBe(58);
    await send(owner, token, encodeFunctionData({ abi: managedToken.abi, functionName: "pause" }));
    expect((await audited(evmNetwork, token)).ids).toContain("paused");
  });

  test("sees through a proxy to what stands behind it", async () => {
    const implementation = await chain.deploy(managedToken, [owner.address, holder.address]);
    const data = await audited(evmNetwork, await chain.deploy(proxiedToken, [implementation]));
    expect(data).toMatchObject({ proxy: { kind: "eip-1967", implementation }, can: { mint: true, pause: true } });
    expect(data.ids).toContain("upgradeable");
  });

  test("sees a clone, which cannot be changed", async () => {
    const implementation = await chain.deploy(plainToken, [holder.address]);
    const clone = "0x00000000000000000000000000000000000C10E0";
    await chain.setCodeAt(
      clone,
      `0x363d3d373d3d3d363d73${implementation.slice(2).toLowerCase()}5af43d82803e903d91602b57fd5bf3`,
    );
    const data = await audited(evmNetwork, clone);
    expect(data).toMatchObject({ proxy: { kind: "eip-1167", implementation } });
    expect(data.ids).not.toContain("upgradeable");
  });

  test("sees a blacklist", async () => {
    expect((await audited(evmNetwork, await minted(usdcStandIn))).ids).toContain("blacklist");
  });

  test.each([
    ["a fee on transfers", feeOnTransferToken, "fee_on_transfer", { tested: true, works: true, fee_rate: 0.1 }],
    ["a transfer that moves nothing", silentToken, "transfer_lies", { tested: true, works: false }],
    ["a transfer that lies about it", lyingToken, "transfer_lies", { tested: true, works: false }],
  ])("catches %s by trying one", async (_name, artifact, id, transfer) => {
    // Given out by the minter without the contract's own transfer.
    const data = await audited(evmNetwork, await minted(artifact));
    expect(data.ids).toContain(id);
    expect(data.transfer).toMatchObject(transfer);
    expect(data.score).toBeLessThan(60);
  });

  test("says when a transfer could not be tried", async () => {
    const data = await audited(evmNetwork, await chain.deploy(usdcStandIn));
    expect(data.transfer).toEqual({ tested: false });
    expect(data.ids).toContain("transfer_untested");
    expect((await audited(evmNetwork, await minted(revertingToken))).transfer.tested).toBe(true);
  });
});

/** The node behaves so when it is asked for a contract's function, and as usual otherwise. */
function whenAsked(
  node: RpcProxy,
  selector: string,
  fate: "refuse" | "over-rate-limit" | "internal-error" | "reverted",
) {
  node.behave((method, params) => {
    const isIt = method === "eth_call" && (params[0] as { data: string }).data.startsWith(selector);
    return isIt ? fate : "pass";
  });
}

describe.each([
  ["owner()", "0x8da5cb5b"],
  ["paused()", "0x5c975abb"],
])("token-audit of an ERC-20 whose %s", (_name, selector) => {
  test.for(["refuse", "over-rate-limit", "internal-error"] as const)(
    "the chain's node does not tell (%s) fails and costs nothing, where it would find less than there is",
    async (fate, { node }) => {
      const token = await chain.deploy(managedToken, [owner.address, holder.address]);
      whenAsked(node, selector, fate);
      const { body } = await run(market, audit.key, audit.agent.address, { network: evmNetwork, token });
      expect(body).toMatchObject({ success: false, credits_used: 0 });
    },
  );

  test("reverts is made: that it has no such function is what the contract says", async ({ node }) => {
    const token = await chain.deploy(managedToken, [owner.address, holder.address]);
    whenAsked(node, selector, "reverted");
    const data = await audited(evmNetwork, token);
    expect(data.owner).toBe(selector === "0x8da5cb5b" ? null : owner.address);
  });
});

describe("token-audit of an HTS token", () => {
  const create = async (change: (create: TokenCreateTransaction) => void = () => {}) => {
    const { accounts, keys } = market.open;
    const token = new TokenCreateTransaction().setTokenName("Audited").setTokenSymbol("AUD").setDecimals(2);
    token.setTreasuryAccountId(accounts.creator.accountId).setInitialSupply(1_000);
    change(token);
    return (await market.open.run(token, keys.creator)).tokenId!.toString();
  };

  test("finds only the treasury's share where there are no keys", async () => {
    const data = await audited(hedera, await create());
    expect(data).toMatchObject({
      network: hedera,
      token: { name: "Audited", symbol: "AUD", decimals: 2, type: "FUNGIBLE_COMMON" },
      supply: { type: "INFINITE", total: "1000" },
      keys: { admin: null, supply: null, wipe: null, freeze: null, kyc: null, pause: null, fee_schedule: null },
      treasury: { account: market.open.accounts.creator.accountId, share: 1 },
      score: 95,
    });
    expect(data.ids).toEqual(["treasury_share"]);
  });

  test("names what each key and fee allows", async () => {
    const { publicKey } = market.open.keys.operator;
    const fee = new CustomFractionalFee()
      .setNumerator(1)
      .setDenominator(5)
      .setFeeCollectorAccountId(market.open.accounts.creator.accountId);
    const token = await create((one) =>
      one
        .setAdminKey(publicKey)
        .setSupplyKey(publicKey)
        .setWipeKey(publicKey)
        .setFreezeKey(publicKey)
        .setPauseKey(publicKey)
        .setKycKey(publicKey)
        .setFeeScheduleKey(publicKey)
        .setCustomFees([fee]),
    );
    const data = await audited(hedera, token);
    expect(new Set(data.ids)).toEqual(
      new Set([
        "unlimited_supply",
        "wipe_key",
        "fractional_fee",
        "freeze_key",
        "pause_key",
        "kyc_key",
        "admin_key",
        "fee_schedule_key",
        "treasury_share",
      ]),
    );
    expect(data.custom_fees.fractional).toEqual([{ rate: 0.2, paid_by: "receiver" }]);
    expect(data.score).toBe(0);
  });
});

test.each([
  ["an unknown network", { network: "eip155:1", token: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }],
  ["no address", { network: evmNetwork, token: "usdc" }],
  ["an address without a contract", { network: evmNetwork, token: "0x000000000000000000000000000000000000dEaD" }],
  ["a contract that is no token", { network: evmNetwork, token: "0xcA11bde05977b3631167028862bE2a173976CA11" }],
  ["no token id", { network: hedera, token: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }],
  ["a token that is not there", { network: hedera, token: "0.0.987654" }],
])("token-audit of %s fails and costs nothing", async (_name, input) => {
  const { body } = await run(market, audit.key, audit.agent.address, input);
  expect(body).toMatchObject({ success: false, credits_used: 0 });
});

describe("approval-check", () => {
  const checked = async (network: string, wallet: string) => {
    const { body } = await run(market, check.key, check.agent.address, { network, wallet });
    expect(body).toMatchObject({ success: true, output: { kind: "json", data: { network, wallet } } });
    return body.output.data;
  };

  test("lists an address' open ERC-20 approvals as the tokens tell them now, the riskiest first", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    const [token, empty] = [await chain.deploy(usdcStandIn), await chain.deploy(plainToken, [holder.address])];
    await chain.mint(token, wallet.address, 1_000n);
    const approve = (where: `0x${string}`, spender: `0x${string}`, value: bigint) =>
      send(wallet, where, encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, value] }));
    await approve(token, token, 10n);
    await approve(token, owner.address, maxUint256);
    await approve(token, holder.address, 500n);
    await approve(token, holder.address, 0n);
    await approve(empty, token, 5n);
    const data = await checked(evmNetwork, wallet.address);
    expect(data.approvals[0]).toEqual({
      kind: "fungible",
      token,
      symbol: "USDC",
      spender: owner.address,
      amount: `${maxUint256}`,
      unlimited: true,
      balance: "1000",
      spender_is_contract: false,
      risk: "high",
    });
    expect(data.summary).toEqual({ total: 3, high: 1, medium: 0, low: 2 });
    expect(data.scanned).toMatchObject({ from_block: 0, complete: true });
  });

  test("lists who may take an address' NFTs: one of them, or all of a collection", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    await chain.mint(await chain.deploy(usdcStandIn), wallet.address, 1n);
    const token = await chain.deploy(plainCollection, [wallet.address]);
    const [thief, market, former] = [holder.address, await chain.deploy(plainToken, [holder.address]), owner.address];
    type Name = "setApprovalForAll" | "approve" | "transferFrom";
    const act = (functionName: Name, ...args: ReadonlyArray<string | bigint | boolean>) =>
      send(wallet, token, encodeFunctionData({ abi: erc721Abi, functionName, args } as never));
    await act("setApprovalForAll", thief, true);
    await act("setApprovalForAll", former, true);
    await act("setApprovalForAll", former, false);
    await act("approve", market, 1n);
    await act("approve", market, 2n);
    await act("transferFrom", wallet.address, former, 2n);
    const data = await checked(evmNetwork, wallet.address);
    const nft = { kind: "nft", token, symbol: "COL" };
    expect(data.approvals).toEqual([
      { ...nft, spender: thief, unlimited: true, balance: "2", spender_is_contract: false, risk: "high" },
      {
        ...nft,
        spender: market,
        token_id: "1",
        amount: "1",
        unlimited: false,
        balance: "1",
        spender_is_contract: true,
        risk: "medium",
      },
    ]);
    expect(data.summary).toEqual({ total: 2, high: 1, medium: 1, low: 0 });
    expect(data.scanned).toMatchObject({ complete: true });
  });

  test("lists an account's HBAR and token allowances", async () => {
    const { accounts, keys, ledger } = market.open;
    const approve = new AccountAllowanceApproveTransaction()
      .approveHbarAllowance(accounts.buyer.accountId, accounts.platform.accountId, 1)
      .approveTokenAllowance(ledger.usdc, accounts.buyer.accountId, accounts.operator.accountId, 2_000_000_000);
    await market.open.run(approve, keys.buyer);
    const data = await checked(hedera, accounts.buyer.accountId);
    expect(data.approvals).toMatchObject([
      {
        token: ledger.usdc,
        spender: accounts.operator.accountId,
        amount: "2000000000",
        unlimited: false,
        balance: "1000000000",
        risk: "medium",
      },
      { token: "hbar", spender: accounts.platform.accountId, amount: "100000000", risk: "low" },
    ]);
    expect(data.summary).toEqual({ total: 2, high: 0, medium: 1, low: 1 });
    expect(data.complete).toBe(true);
    expect((await checked(hedera, accounts.usdcTreasury.accountId)).approvals).toEqual([]);
  });

  describe("of an account with many token allowances", () => {
    const wallet = "0.0.5001";
    const tokenOf = (n: number) => `0.0.${10_000 + n}`;

    /** A mirror that tells so many allowances, each of another token, and holdings of the same, 100 a page. */
    async function readMany({ allowances, holdings }: { allowances: number; holdings: number }) {
      let requests = 0;
      const server = await startHttpServer((request, response) => {
        requests += 1;
        const { pathname, searchParams } = new URL(request.url!, "http://mirror");
        const page = Number(searchParams.get("page") ?? 0);
        const rowsOf = (name: string, count: number, row: (n: number) => object) => {
          const rows = Array.from({ length: Math.max(0, Math.min(100, count - page * 100)) }, (_, n) =>
            row(page * 100 + n),
          );
          const next = count > (page + 1) * 100 ? `${pathname}?limit=100&page=${page + 1}` : null;
          return { [name]: rows, links: { next } };
        };
        const answers: Record<string, () => object> = {
          [`/api/v1/accounts/${wallet}`]: () => ({ account: wallet, balance: { balance: 5 } }),
          [`/api/v1/accounts/${wallet}/allowances/tokens`]: () =>
            rowsOf("allowances", allowances, (n) => ({ spender: "0.0.7", token_id: tokenOf(n), amount: 10 })),
          [`/api/v1/accounts/${wallet}/tokens`]: () =>
            rowsOf("tokens", holdings, (n) => ({ token_id: tokenOf(n), balance: n + 1 })),
        };
        const body = answers[pathname]?.() ?? { allowances: [], links: { next: null } };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
      const mirror = new Mirror(server.url);
      const read = (await readHederaAllowances(mirror, wallet)) as {
        complete: boolean;
        approvals: Array<{ token: string; balance: string }>;
        summary: { total: number };
      };
      await mirror.stop();
      await server.stop();
      return { ...read, requests };
    }

    test("asks the mirror page by page, and not token by token", async () => {
      const { requests, complete, approvals, summary } = await readMany({ allowances: 450, holdings: 450 });
      expect(summary.total).toBe(450);
      expect(complete).toBe(true);
      for (const { token, balance } of approvals) expect(tokenOf(Number(balance) - 1)).toBe(token);
      expect(requests).toBeLessThan(20);
    });

    test("says that these are not all where there are more than are read, and leaves out those whose balance was not", async () => {
      expect(await readMany({ allowances: 2_050, holdings: 100 })).toMatchObject({
        complete: false,
        summary: { total: 2_000 },
      });
      const { complete, approvals } = await readMany({ allowances: 2_000, holdings: 2_050 });
      expect([complete, approvals.some(({ balance }) => balance === "0")]).toEqual([false, false]);
    });
  });

  test("tells amounts to the last unit, as large as a chain of Hedera counts", async () => {
    const [wallet, token] = ["0.0.5002", "0.0.5003"];
    const said = (memo: string) => JSON.stringify(memo);
    const rows: Record<string, string> = {
      "allowances/tokens": `{"allowances":[{"spender":"0.0.7","token_id":"${token}","amount":9223372036854775807}]}`,
      "allowances/crypto": `{"allowances":[{"spender":"0.0.7","amount": 9007199254740993}]}`,
      "allowances/nfts": `{"allowances":[]}`,
      tokens: `{"tokens":[{"memo":${said('":1234567890123456789,')},"token_id":"${token}","balance":9007199254740995}]}`,
    };
    const server = await startHttpServer((request, response) => {
      const rest = new URL(request.url!, "http://mirror").pathname.split(`${wallet}/`)[1];
      const account = `{"account":"${wallet}","memo":"","balance":{"balance":4999999999999999999,"timestamp":"1.5"}}`;
      response.writeHead(200, { "content-type": "application/json" }).end(rest ? rows[rest] : account);
    });
    const mirror = new Mirror(server.url);
    const { approvals } = (await readHederaAllowances(mirror, wallet)) as { approvals: object[] };
    await mirror.stop();
    await server.stop();
    expect(approvals).toMatchObject([
      { token, amount: "9223372036854775807", balance: "9007199254740995", unlimited: true },
      { token: "hbar", amount: "9007199254740993", balance: "4999999999999999999", unlimited: false },
    ]);
  });

  test("fails, tells nothing of the endpoint and costs nothing when the chain is silent", async () => {
    const away = await startMarketplace({
      env: {
        EVM_RPC_URLS: `${evmNetwork}=http://127.0.0.1:1/RPC-KEY-MARK`,
        HEDERA_MIRROR: "http://127.0.0.1:1/RPC-KEY-MARK",
      },
    });
    const fields = [
      { name: "network", type: "string" },
      { name: "wallet", type: "string" },
    ];
    const { key, agent } = await seedMarket(away.context, {
      agent: { connector: "approval-check", fields, settings: {} },
    });
    for (const input of [
      { network: evmNetwork, wallet: owner.address },
      { network: hedera, wallet: "0.0.5" },
    ]) {
      const { body, text } = await run(away, key, agent.address, input);
      expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
      expect(text + away.lines.join("")).not.toContain("RPC-KEY-MARK");
    }
    await away.stop();
  });
});

async function send(account: typeof owner, to: `0x${string}`, data: `0x${string}`): Promise<void> {
  await chain.fund(account.address, { wei: 10n ** 18n });
  const client = createWalletClient({ account, transport: http(chain.rpcUrl) });
  const hash = await client.sendTransaction({ to, data, chain: null });
  await expect
    .poll(
      async () => (await client.request({ method: "eth_getTransactionReceipt", params: [hash] } as never)) as unknown,
    )
    .toMatchObject({ status: "0x1" });
}
