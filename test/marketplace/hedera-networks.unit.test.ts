import { expect, test } from "vitest";
import { requireWalletForm } from "../../marketplace/accounts/payout-wallets.ts";
import { readChains } from "../../marketplace/connectors/config.ts";
import { networkSetting } from "../../marketplace/connectors/hedera/preconditions.ts";
import { EnvReader } from "../../shared/env.ts";
import { networksOf } from "../../shared/networks.ts";

test.each(networksOf("hedera"))(
  "%s can be read, is taken in an agent's settings and for a payout wallet",
  (network) => {
    const env = new EnvReader({ HEDERA_NETWORK: network.split(":")[1], HEDERA_MIRROR: "https://mirror.example" });
    expect(readChains(env).hedera?.network).toBe(network);
    expect(networkSetting.parse(network)).toBe(network);
    expect(() => requireWalletForm({ network, address: "0.0.1234" })).not.toThrow();
    expect(() => requireWalletForm({ network, address: `0x${"1".repeat(40)}` })).toThrow(`on ${network}`);
  },
);

test("a Hedera network that is not in the table is refused, with those that are", () => {
  expect(networkSetting.safeParse("hedera:other").success).toBe(false);
  expect(() => requireWalletForm({ network: "hedera:other", address: "0.0.1234" })).toThrow(
    `must be ${networksOf("hedera").join(", ")} or eip155:<chain id>`,
  );
});
