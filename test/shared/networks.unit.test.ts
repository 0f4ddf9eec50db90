import { getAddress } from "viem";
import { describe, expect, test } from "vitest";
import { environmentOf, knownNetworks, networkOf, toCaip2, v1NameOf } from "../../shared/networks.ts";

test("every token of the table is an address with its checksum, or a token id; every id is there once", () => {
  for (const id of knownNetworks) {
    for (const { asset, decimals } of networkOf(id)?.stablecoins ?? []) {
      if (id.startsWith("hedera:")) expect(asset).toMatch(/^0\.0\.[1-9]\d*$/);
      else expect(asset).toBe(getAddress(asset));
      // Prices per call are quoted with six decimals on every chain.
      expect(decimals).toBe(6);
    }
  }
  expect(new Set(knownNetworks).size).toBe(knownNetworks.length);
});

test.each([
  "eip155:42161",
  "eip155:10",
  "eip155:56",
  "eip155:59144",
  "eip155:987654321",
  "eip155:084532",
  "hedera:mainnet",
  "hedera:other",
  "solana:mainnet",
  "__proto__",
  "constructor",
  "",
])("%s is a main network", (network) => {
  expect(environmentOf(network)).toBe("mainnet");
});

test.each(["eip155:84532", "eip155:421614", "eip155:11155420", "hedera:testnet"])("%s is a test network", (network) => {
  expect(environmentOf(network)).toBe("testnet");
});

describe("names of version 1", () => {
  test("lead there and back", () => {
    for (const id of knownNetworks) {
      for (const name of networkOf(id)?.v1Names ?? []) expect(toCaip2(name)).toBe(id);
      expect(v1NameOf(id)).toBe(networkOf(id)?.v1Names[0]);
    }
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s is none", (name) => {
    expect(toCaip2(name)).toBe(name);
    expect(v1NameOf(name)).toBeUndefined();
    expect(networkOf(name)).toBeUndefined();
  });
});
