import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeDemoWallet } from "../../infra/dev/demo-wallet.ts";
import { evmWallets } from "../../infra/dev/wallets.ts";
import { readConfig } from "../../marketplace/config.ts";
import { startMarketplace } from "../support/marketplace.ts";

const keys = {
  evm: { network: "eip155:84532", ...evmWallets({}).buyer },
  hedera: { network: "hedera:testnet", accountId: "0.0.1003", privateKey: "302e" },
};
const local = "http://127.0.0.1:4020";
const newFile = async () => join(await mkdtemp(join(tmpdir(), "demo-wallet-")), "wallet.js");

test.each([
  ["in production", { NODE_ENV: "production" }],
  ["where nothing says that it is development", { NODE_ENV: "" }],
  ["under a test runner", { NODE_ENV: "test" }],
  ["at a public name", { MARKETPLACE_PUBLIC_URL: "https://market.example.com" }],
  ["at a public name that looks like this machine", { MARKETPLACE_PUBLIC_URL: "https://localhost.example.com" }],
  ["at an address of a network", { MARKETPLACE_PUBLIC_URL: "https://192.168.1.2" }],
])("the marketplace does not start with a demo wallet %s", (_where, more) => {
  const environment = {
    MARKETPLACE_DATABASE_URL: "postgres://localhost/none",
    FACILITATOR_URL: "http://127.0.0.1:1",
    LLM_BASE_URL: "http://127.0.0.1:1",
    NODE_ENV: "development",
    MARKETPLACE_PUBLIC_URL: local,
    DEMO_WALLET_SCRIPT: "/demo-wallet.js",
  };
  expect(readConfig(environment).demoWalletScript).toBe("/demo-wallet.js");
  expect(() => readConfig({ ...environment, ...more })).toThrow(/DEMO_WALLET_SCRIPT is for development/);
});

test("the local stack writes one where its pages are this machine's own, and nowhere else", async () => {
  const file = await newFile();
  expect(await writeDemoWallet(file, "https://market.example.com", keys)).toEqual({});
  await expect(readFile(file)).rejects.toThrow("ENOENT");
  expect(await writeDemoWallet(file, local, keys)).toEqual({ DEMO_WALLET_SCRIPT: file });
  expect(await readFile(file, "utf8")).toContain("eip6963:announceProvider");
});

test("it is served in development, and there is no such address otherwise", async () => {
  const file = await newFile();
  await writeDemoWallet(file, local, keys);
  const served = await startMarketplace({ env: { NODE_ENV: "development", DEMO_WALLET_SCRIPT: file } });
  const usual = await startMarketplace();
  try {
    const answer = await fetch(`${served.url}/demo-wallet.js`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/javascript/);
    expect(await answer.text()).toContain("eip6963:announceProvider");
    expect((await fetch(`${usual.url}/demo-wallet.js`)).status).toBe(404);
  } finally {
    await served.stop();
    await usual.stop();
  }
});
