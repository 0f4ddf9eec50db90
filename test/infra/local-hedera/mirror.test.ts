import { MirrorNodeAccountBalanceQuery } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import { mirrorId } from "./sdk.ts";

const test = ledgerTest();

const anyTimestamp = expect.stringMatching(/^\d{10}\.\d{9}$/);

describe("the mirror's shapes", () => {
  test("an account: amounts are numbers, its key is typed", async ({ on }) => {
    const { links, httpStatus, ...account } = await on.mirror("accounts/0.0.1003?transactions=false");
    expect([httpStatus, links]).toEqual([200, { next: null }]);
    expect(account).toEqual({
      account: "0.0.1003",
      alias: null,
      auto_renew_period: 7_776_000,
      balance: {
        balance: 10_000_000_000,
        timestamp: anyTimestamp,
        tokens: [{ token_id: "0.0.429274", balance: 1_000_000_000 }],
      },
      created_timestamp: anyTimestamp,
      decline_reward: false,
      deleted: false,
      ethereum_nonce: 0,
      evm_address: "0x00000000000000000000000000000000000003eb",
      expiry_timestamp: anyTimestamp,
      key: { _type: "ED25519", key: on.accounts.buyer.publicKey },
      max_automatic_token_associations: 0,
      memo: "",
      pending_reward: 0,
      receiver_sig_required: false,
      staked_account_id: null,
      staked_node_id: null,
      stake_period_start: null,
      transactions: [],
    });
  });

  test("an account is found by number, by 0.0.number and by EVM address", async ({ on }) => {
    const ids = [
      "1003",
      "0.0.1003",
      "0x00000000000000000000000000000000000003eb",
      "00000000000000000000000000000000000003EB",
    ];
    for (const id of ids) expect((await on.mirror(`accounts/${id}`)).account).toBe("0.0.1003");
  });

  test("associations: one row each, none for a token that is not associated", async ({ on }) => {
    expect(await on.mirror("accounts/0.0.1003/tokens?token.id=0.0.429274")).toEqual({
      httpStatus: 200,
      tokens: [
        {
          automatic_association: false,
          balance: 1_000_000_000,
          created_timestamp: anyTimestamp,
          decimals: 6,
          freeze_status: "UNFROZEN",
          kyc_status: "NOT_APPLICABLE",
          token_id: "0.0.429274",
        },
      ],
      links: { next: null },
    });
    expect((await on.mirror("accounts/0.0.1001/tokens?token.id=0.0.429274")).tokens).toEqual([]);
  });

  test("balances: one row for an account that exists, none for one that does not", async ({ on }) => {
    const { balances } = await on.mirror("balances?account.id=0.0.1001");
    expect(balances).toEqual([{ account: "0.0.1001", balance: 1_000_000_000_000, tokens: [] }]);
    expect(await on.mirror("balances?account.id=0.0.999999")).toMatchObject({ httpStatus: 200, balances: [] });
  });

  test("balances are paged, and every account comes once", async ({ on }) => {
    const seen: string[] = [];
    for (let path = "balances?limit=4"; path; ) {
      const { balances, links } = await on.mirror(path);
      expect(balances.length).toBeLessThanOrEqual(4);
      seen.push(...balances.map(({ account }: { account: string }) => account));
      path = links.next?.replace("/api/v1/", "");
    }
    expect(seen).toEqual(
      ["2", "3", "4", "5", "98", "1001", "1002", "1003", "1004", "1005", "1006"].map((number) => `0.0.${number}`),
    );
  });

  test("accounts are found by public key, be it one that several have, and come in pages", async ({ on }) => {
    const publicKey = on.accounts.platform.publicKey;
    const { accountId } = on.ledger.faucet.createAccount({ publicKey });
    const found: string[] = [];
    for (let path = `accounts?account.publickey=0x${publicKey.toUpperCase()}&limit=1`; path; ) {
      const { accounts, links } = await on.mirror(path);
      found.push(...accounts.map(({ account }: { account: string }) => account));
      path = links.next?.replace("/api/v1/", "");
    }
    expect(found).toEqual(["0.0.1004", accountId]);
    expect((await on.mirror("accounts?account.id=0.0.1001")).accounts).toMatchObject([{ account: "0.0.1001" }]);
    expect(await on.mirror("accounts?account.publickey=ab")).toMatchObject({ httpStatus: 400 });
  });

  test("a token: its quantities are strings", async ({ on }) => {
    expect(await on.mirror("tokens/0.0.429274")).toMatchObject({
      decimals: "6",
      total_supply: "1000000000",
      initial_supply: "0",
      max_supply: "0",
      custom_fees: { created_timestamp: anyTimestamp, fixed_fees: [], fractional_fees: [] },
      pause_status: "UNPAUSED",
      deleted: false,
      type: "FUNGIBLE_COMMON",
      treasury_account_id: "0.0.1006",
      freeze_key: { _type: "ED25519", key: on.accounts.usdcTreasury.publicKey },
      kyc_key: null,
    });
    expect((await on.mirror("tokens/0.0.429274/balances?account.id=0.0.1003")).balances).toEqual([
      { account: "0.0.1003", balance: 1_000_000_000, decimals: 6 },
    ]);
  });

  test("a transaction: fee and amounts are numbers, limit and duration strings", async ({ on }) => {
    const payment = on.payment(10).setTransactionMemo("tea");
    await on.settle(payment, on.keys.buyer);
    const id = mirrorId(payment.transactionId!);
    const { transactions } = await on.mirror(`transactions/${id}`);
    const [, seconds, nanos] = id.split("-");
    expect(transactions).toEqual([
      {
        assessed_custom_fees: [],
        batch_key: null,
        bytes: null,
        charged_tx_fee: 916_667,
        consensus_timestamp: anyTimestamp,
        entity_id: null,
        high_volume: false,
        max_custom_fees: [],
        max_fee: "100000000",
        memo_base64: "dGVh",
        name: "CRYPTOTRANSFER",
        nft_transfers: [],
        node: "0.0.3",
        nonce: 0,
        parent_consensus_timestamp: null,
        result: "SUCCESS",
        scheduled: false,
        staking_reward_transfers: [],
        token_transfers: [
          { token_id: "0.0.429274", account: "0.0.1002", amount: 10, is_approval: false },
          { token_id: "0.0.429274", account: "0.0.1003", amount: -10, is_approval: false },
        ],
        transaction_hash: expect.stringMatching(/^[A-Za-z0-9+/]{64}$/),
        transaction_id: id,
        transfers: [
          { account: "0.0.3", amount: 16_667, is_approval: false },
          { account: "0.0.98", amount: 900_000, is_approval: false },
          { account: "0.0.1001", amount: -916_667, is_approval: false },
        ],
        valid_duration_seconds: "120",
        valid_start_timestamp: `${seconds}.${nanos}`,
      },
    ]);
    expect((await on.mirror("transactions?account.id=0.0.1001&limit=1")).transactions[0].transaction_id).toBe(id);
  });

  test("the exchange rate and the nodes, with the ports they listen on", async ({ on }) => {
    expect(await on.mirror("network/exchangerate")).toMatchObject({
      current_rate: { cent_equivalent: 360_000, hbar_equivalent: 30_000, expiration_time: expect.any(Number) },
    });
    const { nodes } = await on.mirror("network/nodes");
    const listed = nodes.map(
      (node: { node_account_id: string; service_endpoints: { ip_address_v4: string; port: number }[] }) => {
        const [endpoint] = node.service_endpoints;
        return [`${endpoint!.ip_address_v4}:${endpoint!.port}`, node.node_account_id];
      },
    );
    expect(Object.fromEntries(listed)).toEqual(on.ledger.nodes);
  });

  test("the nodes page by page, in either order", async ({ on }) => {
    const page = async (path: string) => {
      const { nodes, links } = await on.mirror(path.replace("/api/v1/", ""));
      return { ids: nodes.map(({ node_id }: { node_id: number }) => node_id), next: links.next };
    };
    const first = await page("network/nodes?limit=2");
    expect(first).toEqual({ ids: [0, 1], next: "/api/v1/network/nodes?limit=2&order=asc&node.id=gt:1" });
    expect(await page(first.next)).toEqual({ ids: [2], next: null });
    const last = await page("network/nodes?limit=2&order=desc");
    expect(last).toEqual({ ids: [2, 1], next: "/api/v1/network/nodes?limit=2&order=desc&node.id=lt:1" });
    expect(await page(last.next)).toEqual({ ids: [0], next: null });
    expect(await page("network/nodes?limit=1000")).toEqual({ ids: [0, 1, 2], next: null });
  });
});

describe("what the mirror does not have", () => {
  const notFound = { httpStatus: 404, _status: { messages: [{ message: "Not found" }] } };

  test.for([
    "accounts/0.0.999999",
    "accounts/0x1111111111111111111111111111111111111111",
    "accounts/0.0.999999/tokens",
    "tokens/0.0.1003",
    "transactions/0.0.1001-1700000000-000000001",
    "topics/0.0.1003",
    "topics/0.0.1003/messages",
    "nothing/here",
  ] as const)("%s is 404", async (path, { on }) => {
    expect(await on.mirror(path)).toEqual(notFound);
  });

  test.for([
    ["accounts/not-an-id", "idOrAliasOrEvmAddress"],
    ["accounts/0.0.1003/tokens?token.id=x", "token.id"],
    ["accounts/0.0.1003/tokens?limit=0", "limit"],
    ["accounts/0.0.1003/tokens?order=up", "order"],
    ["tokens/x", "token.id"],
    ["transactions/0.0.1001@1700000000.000000001", "transactionId"],
  ] as const)("%s is 400, naming %s", async ([path, parameter], { on }) => {
    expect(await on.mirror(path)).toEqual({
      httpStatus: 400,
      _status: { messages: [{ message: `Invalid parameter: ${parameter}` }] },
    });
  });
});

describe("the SDK's own mirror query", () => {
  test("finds its answer at the path it asks", async ({ on }) => {
    // The SDK looks for a local mirror on port 5551 only, so its address is put right by hand.
    const client = Object.create(on.client, { mirrorRestApiBaseUrl: { value: `${on.ledger.mirrorUrl}/api/v1` } });
    const balance = await new MirrorNodeAccountBalanceQuery().setAccountId("0.0.1003").execute(client);
    expect(balance.hbars.toTinybars().toNumber()).toBe(10_000_000_000);
  });
});
