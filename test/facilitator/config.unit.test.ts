import { mnemonicToSeedSync } from "@scure/bip39";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../facilitator/config.ts";
import { explorerUrl } from "../../facilitator/explorer.ts";

const whole = {
  FACILITATOR_DATABASE_URL: "postgres://localhost/facilitator",
  EIP155_84532_RPC_URL: "http://127.0.0.1:8545",
  EIP155_84532_SIGNERS: `0x${"11".repeat(32)}`,
  HEDERA_TESTNET_MIRROR: "http://127.0.0.1:5551",
  HEDERA_TESTNET_NODES: "127.0.0.1:50211=0.0.3,127.0.0.1:50213=0.0.4",
  HEDERA_TESTNET_FEE_PAYERS: `0.0.1001:ed25519:${"22".repeat(32)}`,
};

test("a whole environment is read: networks from the variables' names, USDC as the default asset", () => {
  const config = readConfig(whole);
  expect(config.evm[0]).toMatchObject({
    network: "eip155:84532",
    chainId: 84532,
    assets: ["0x036CbD53842c5426634e7929541eC2318f3dCF7e"],
  });
  expect(config.hedera[0]).toMatchObject({
    network: "hedera:testnet",
    assets: ["0.0.429274"],
    nodes: { "127.0.0.1:50211": "0.0.3", "127.0.0.1:50213": "0.0.4" },
  });
});

test("fee payers are the listed keys, those in a KMS, and the accounts that wallets derive from a seed", () => {
  const addressesOf = (variables: Record<string, string>) =>
    readConfig({ ...whole, ...variables }).evm[0]?.signers.map(({ address }) => address);
  const mnemonic = "test test test test test test test test test test test junk";
  const derived = ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"];
  const seeded = { EIP155_84532_FEE_PAYER_SEED: mnemonic, EIP155_84532_FEE_PAYER_COUNT: "2" };
  expect(addressesOf({ ...seeded, EIP155_84532_SIGNERS: "" })).toEqual(derived);
  const seedHex = `0x${Buffer.from(mnemonicToSeedSync(mnemonic)).toString("hex")}`;
  expect(addressesOf({ ...seeded, EIP155_84532_FEE_PAYER_SEED: seedHex })?.slice(1)).toEqual(derived);
  const arn = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
  const inKms = {
    EIP155_84532_SIGNERS: `${derived[0]}:kms:${arn}`,
    KMS_ACCESS_KEY_ID: "A",
    KMS_SECRET_ACCESS_KEY: "s",
  };
  expect(readConfig({ ...whole, ...inKms }).evm[0]?.signers).toEqual([{ address: derived[0], key: { kms: arn } }]);
  expect(() => readConfig({ ...whole, EIP155_84532_SIGNERS: inKms.EIP155_84532_SIGNERS })).toThrow("KMS_ACCESS_KEY_ID");
  expect(() => readConfig({ ...whole, ...seeded, EIP155_84532_FEE_PAYER_SEED: `${mnemonic} junk` })).toThrow("BIP-39");
  expect(() => readConfig({ ...whole, ...inKms, ...seeded })).toThrow("twice");
});

test("keys never appear when configuration is printed", () => {
  const config = readConfig(whole);
  expect(JSON.stringify(config, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toMatch(
    /1111|2222/,
  );
});

test("everything that is wrong is named in one message, keys unquoted", () => {
  const start = () =>
    readConfig({
      FACILITATOR_PORT: "no",
      EIP155_84532_SIGNERS: "0xnot-a-key",
      EIP155_31337_RPC_URL: "localhost",
      HEDERA_TESTNET_FEE_PAYERS: "1001:abc",
    });
  const message = (() => {
    try {
      start();
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  })();
  for (const name of [
    "FACILITATOR_PORT",
    "FACILITATOR_DATABASE_URL",
    "EIP155_84532_RPC_URL",
    "EIP155_84532_SIGNERS",
    "EIP155_31337_RPC_URL",
    "EIP155_31337_SIGNERS",
    "EIP155_31337_ASSETS",
    "HEDERA_TESTNET_MIRROR",
    "HEDERA_TESTNET_NODES",
    "HEDERA_TESTNET_FEE_PAYERS",
  ]) {
    expect(message).toContain(name);
  }
  expect(message).not.toContain("not-a-key");
});

test.each<[string, string, string]>([
  ["HEDERA_TESTNET_FEE_PAYERS", `${whole.HEDERA_TESTNET_FEE_PAYERS},0.0.1001:ecdsa:${"44".repeat(32)}`, "twice"],
  ["HEDERA_TESTNET_MIRROR", "https://testnet.mirrornode.hedera.com/api/v1/", "/api/v1"],
  ["HEDERA_TESTNET_MIRROR", "https://mirror.example/hedera?key=hunter2", "a query"],
  ["HEDERA_TESTNET_MIRROR", "https://me:hunter2@mirror.example", "a user"],
  ["EIP155_84532_RPC_URL", "https://me:hunter2%@node.example", "%25"],
])("%s=%s is refused: it could not be used as it is", (name, value, words) => {
  const start = () => readConfig({ ...whole, [name]: value });
  expect(start).toThrow(name);
  expect(start).toThrow(words);
  expect(start).not.toThrow(/hunter2|4444/);
});

test.each<[string, string, string]>([
  ["EIP155_84532_GAS_LIMIT", "0", "a whole number of gas, 21000 or more"],
  ["EIP155_84532_GAS_LIMIT", "200", "21000 or more"],
  ["EIP155_84532_FEE_PER_GAS_MAX_WEI", "5e10", "a whole number of wei"],
  ["EIP155_84532_BALANCE_LOW_WEI", "0.01", "a whole number of wei"],
  ["EIP155_84532_BUMP_AFTER_MS", "300000000", "between 500 and 86400000"],
  ["LIMIT_FAILURES_PER_PAYER", "3000000000", "between 0 and"],
  ["LIMIT_VERIFY_PER_ADDRESS", "3000000000", "between 0 and"],
  ["HTTP_BODY_BYTES", "999999999999999", "between 33554432 and"],
])("%s=%s makes no sense and is refused, with what is wanted", (name, value, words) => {
  const start = () => readConfig({ ...whole, [name]: value });
  expect(start).toThrow(name);
  expect(start).toThrow(words);
});

test.each<[string, string, string]>([
  ["EIP155_84532_GAS_LIMIT", "50000000000", "gas: it is between"],
  ["EIP155_84532_FEE_PER_GAS_MAX_WEI", "50", "wei: it is between"],
  ["EIP155_84532_FEE_PER_GAS_MAX_WEI", "50000000000000000000", "wei: it is between"],
  ["EIP155_84532_BALANCE_LOW_WEI", "10000000", "wei: it is between"],
  [
    "EIP155_84532_BALANCE_EMPTY_WEI",
    "20000000000000000",
    "EIP155_84532_BALANCE_LOW_WEI is 10000000000000000, less than",
  ],
  ["EIP155_84532_BALANCE_LOW_WEI", "0", "less than EIP155_84532_BALANCE_EMPTY_WEI (1000000000000000)"],
  ["EIP155_84532_DAILY_BUDGET_WEI", "5", "wei: it is between"],
  ["HEDERA_TESTNET_BALANCE_LOW_TINYBARS", "20", "tinybars: it is between"],
  ["HEDERA_TESTNET_BALANCE_LOW_TINYBARS", "100000000", "HEDERA_TESTNET_BALANCE_EMPTY_TINYBARS (200000000)"],
  ["HEDERA_TESTNET_TRANSACTION_FEE_MAX_TINYBARS", "2", "tinybars: it is between"],
  [
    "HEDERA_TESTNET_TRANSACTION_FEE_MIN_TINYBARS",
    "300000000",
    "HEDERA_TESTNET_TRANSACTION_FEE_MAX_TINYBARS (200000000)",
  ],
  ["DRAIN_MS", "5", "milliseconds"],
])("%s=%s is taken as it is said, and told as what was meant otherwise", (name, value, words) => {
  const doubts = readConfig({ ...whole, [name]: value }).doubts.join();
  expect(doubts).toContain(name);
  expect(doubts).toContain(words);
});

test("a fee payer is low no later than it is empty", () => {
  const { evm } = readConfig({ ...whole, EIP155_84532_BALANCE_EMPTY_WEI: "20000000000000000" });
  expect(evm[0]).toMatchObject({ balanceLow: 20_000_000_000_000_000n, balanceEmpty: 20_000_000_000_000_000n });
});

test("a fee payer's balance need not be watched, nor its spending bounded", () => {
  const none = { BALANCE_LOW_WEI: "0", BALANCE_EMPTY_WEI: "0", DAILY_BUDGET_WEI: "0" };
  const named = Object.fromEntries(Object.entries(none).map(([name, value]) => [`EIP155_84532_${name}`, value]));
  const { evm, doubts } = readConfig({ ...whole, ...named });
  expect(evm[0]).toMatchObject({ balanceLow: 0n, balanceEmpty: 0n, dailyBudget: 0n });
  expect(doubts).toEqual([]);
});

test("variables that are named like settings of a network and are none are known by name", () => {
  expect(readConfig(whole).unknownVariables).toEqual([]);
  const misspelt = { EIP155_84532_ENVIROMENT: "mainnet", HEDERA_TESTNET_DAILY_BUDGET: "1" };
  const others = { HEDERA_OPERATOR_KEY: "x", EIP155_ID: "1", PATH: "/bin" };
  expect(readConfig({ ...whole, ...misspelt, ...others }).unknownVariables).toEqual(Object.keys(misspelt));
});

test("an environment without any network says which variables would give one", () => {
  expect(() => readConfig({ FACILITATOR_DATABASE_URL: "postgres://localhost/f" })).toThrow(/no network is configured/);
});

describe("a chain that nobody has said anything of", () => {
  const on = (chainId: number, variables: Record<string, string> = {}) =>
    readConfig({
      FACILITATOR_DATABASE_URL: whole.FACILITATOR_DATABASE_URL,
      [`EIP155_${chainId}_RPC_URL`]: "http://127.0.0.1:8545",
      [`EIP155_${chainId}_SIGNERS`]: whole.EIP155_84532_SIGNERS,
      [`EIP155_${chainId}_ASSETS`]: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      ...variables,
    });

  test.each([42161, 10, 56, 59144, 7777777])("is a main network: limits, budget and minimum hold on %i", (chainId) => {
    const { limits, evm, environmentOf } = on(chainId);
    expect(evm[0]).toMatchObject({ amountMin: 1_000n, dailyBudget: 50_000_000_000_000_000n });
    expect(Object.values(limits).every((limit) => limit > 0)).toBe(true);
    expect(environmentOf(`eip155:${chainId}`)).toBe("mainnet");
  });

  test("is a test network if the operator says so, and a test network of the table can be a main one", () => {
    const { limits, evm, environmentOf } = on(7777777, { EIP155_7777777_ENVIRONMENT: "testnet" });
    expect(evm[0]).toMatchObject({ amountMin: 1n, dailyBudget: 0n });
    expect(limits).toMatchObject({ verifyPerAddress: 0, settlePerPayer: 0 });
    expect(environmentOf("eip155:7777777")).toBe("testnet");
    expect(on(84532, { EIP155_84532_ENVIRONMENT: "mainnet" }).limits.settlePerPayer).toBeGreaterThan(0);
    expect(() => on(10, { EIP155_10_ENVIRONMENT: "test" })).toThrow("EIP155_10_ENVIRONMENT");
  });

  test("stays what the operator says once it is served no more: its record is of no other environment then", () => {
    const { evm, environmentOf } = readConfig({ ...whole, EIP155_7777777_ENVIRONMENT: "testnet" });
    expect(evm.map(({ network }) => network)).not.toContain("eip155:7777777");
    expect(environmentOf("eip155:7777777")).toBe("testnet");
  });
});

describe("links to an explorer", () => {
  const explorers = (variables: Record<string, string>) => {
    const { evm, hedera } = readConfig({ ...whole, ...variables });
    return [evm[0], hedera[0]].map((network) => network?.explorer);
  };
  const publicly = {
    EIP155_84532_RPC_URL: "https://sepolia.base.org/key",
    HEDERA_TESTNET_MIRROR: "https://testnet.mirrornode.hedera.com",
  };

  test("lead to the public explorer of a public network", () => {
    expect(explorers(publicly)).toEqual(["https://sepolia.basescan.org", "https://hashscan.io/testnet"]);
    const { evm, hedera } = readConfig({ ...whole, ...publicly });
    expect(explorerUrl({ evm, hedera }, "eip155:84532", "0x1")).toBe("https://sepolia.basescan.org/tx/0x1");
    expect(explorerUrl({ evm, hedera }, "hedera:testnet", "0.0.5@1.000000002")).toBe(
      "https://hashscan.io/testnet/transaction/0.0.5@1.000000002",
    );
    expect(explorerUrl({ evm, hedera }, "eip155:8453", "0x1")).toBeNull();
    expect(explorerUrl({ evm, hedera }, "eip155:84532", null)).toBeNull();
  });

  test.each([
    "http://127.0.0.1:8545",
    "http://localhost:8545",
    "http://10.1.2.3",
    "http://anvil:8545",
    "http://[::1]:1",
  ])("are not given for a chain at %s", (url) => {
    expect(explorers({ EIP155_84532_RPC_URL: url, HEDERA_TESTNET_MIRROR: url })).toEqual([undefined, undefined]);
  });

  test("are as configured, which must be a URL", () => {
    const own = { EIP155_84532_EXPLORER: "https://explorer.example.com/", HEDERA_TESTNET_EXPLORER: "off" };
    expect(explorers({ ...publicly, ...own })).toEqual(["https://explorer.example.com", undefined]);
    expect(explorers(own)).toEqual(["https://explorer.example.com", undefined]);
    expect(() => explorers({ EIP155_84532_EXPLORER: "javascript:alert(1)" })).toThrow("EIP155_84532_EXPLORER");
  });
});
