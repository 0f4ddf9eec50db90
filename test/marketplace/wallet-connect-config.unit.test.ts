import { expect, test } from "vitest";
import { readConfig } from "../../marketplace/config.ts";
import { offerWalletConnect } from "../../marketplace/web/wallet-connect.tsx";

const configured = (more: Record<string, string> = {}) =>
  readConfig({
    MARKETPLACE_DATABASE_URL: "postgres://localhost/none",
    FACILITATOR_URL: "http://127.0.0.1:1",
    LLM_BASE_URL: "http://127.0.0.1:1",
    ...more,
  });
const both = ["eip155:8453", "hedera:mainnet"];

test("pages reach wallets through WalletConnect's relay only where the operator has a project, and where Hedera is paid", () => {
  expect(offerWalletConnect(configured(), both)).toEqual({ widening: undefined, dialog: undefined });
  const withProject = configured({ WALLETCONNECT_PROJECT_ID: "b0e7a9" });
  expect(offerWalletConnect(withProject, both).widening).toEqual({ connect: ["wss://relay.walletconnect.org"] });
  expect(offerWalletConnect(withProject, ["eip155:8453"])).toEqual({ widening: undefined, dialog: undefined });
  const own = configured({
    WALLETCONNECT_PROJECT_ID: "b0e7a9",
    WALLETCONNECT_RELAY_URL: "wss://relay.example.com/v2/",
  });
  expect(offerWalletConnect(own, both).widening).toEqual({ connect: ["wss://relay.example.com"] });
});

test.each([
  [{ WALLETCONNECT_PROJECT_ID: "two words" }, /WALLETCONNECT_PROJECT_ID must be the id of a project/],
  [{ WALLETCONNECT_RELAY_URL: "https://relay.example.com" }, /WALLETCONNECT_RELAY_URL must be a URL starting with wss/],
  [
    { WALLETCONNECT_PROJECT_ID: "p", WALLETCONNECT_RELAY_URL: "ws://relay.example.com" },
    /WALLETCONNECT_RELAY_URL must be wss:/,
  ],
])("%o: the marketplace does not start", (more, problem) => {
  expect(() => configured(more as Record<string, string>)).toThrow(problem);
});
