import { expect, test } from "vitest";
import { readConfig } from "../../marketplace/config.ts";

const walletsOf = (PLATFORM_WALLETS: string) =>
  readConfig({
    MARKETPLACE_DATABASE_URL: "postgres://localhost/marketplace",
    FACILITATOR_URL: "http://127.0.0.1:4022",
    LLM_BASE_URL: "http://127.0.0.1:4030",
    PLATFORM_WALLETS,
  }).platformWallets;

const evm = `0x${"5".repeat(40)}`;

test("the platform is paid at one wallet a network", () => {
  expect(walletsOf(`hedera:testnet=0.0.5, eip155:8453=${evm}`)).toEqual([
    { network: "hedera:testnet", address: "0.0.5" },
    { network: "eip155:8453", address: evm },
  ]);
});

test.each([
  ["a network twice", "hedera:testnet=0.0.5,hedera:testnet=0.0.6"],
  ["no network of Hedera", "hedera:tesnet=0.0.5"],
  ["a chain with a leading zero", `eip155:08453=${evm}`],
  ["the address that nobody has", `eip155:8453=0x${"0".repeat(40)}`],
  ["an address of another chain family", `hedera:testnet=${evm}`],
  ["two addresses", "hedera:testnet=0.0.5=0.0.6"],
])("wallets that name %s are refused", (_, text) => {
  expect(() => walletsOf(text)).toThrow("PLATFORM_WALLETS");
});
