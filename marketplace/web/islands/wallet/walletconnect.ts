import { notedSession, noteSession } from "./noted-session.ts";
import type { Wallet } from "./providers.ts";

/**
 * Hedera wallets that are not in this browser, most of them on a phone (HIP-820, through WalletConnect's relay), as one more wallet;
 * undefined where the operator configured none. The code that talks to them is loaded when it is first needed.
 */
export function walletConnect(): Wallet | undefined {
  const place = document.getElementById("walletconnect");
  if (!place) return undefined;
  const networks = (place.dataset.networks ?? "").split(" ");
  const load = async () => {
    const { connection } = await import("./walletconnect-connection.ts").catch(() => {
      throw new Error("What talks to wallets could not be loaded. Check your connection and press again.");
    });
    return connection(place.dataset, noteSession);
  };
  return {
    id: "walletconnect",
    name: "WalletConnect (Hedera)",
    networks,
    provider: {
      request: async ({ method, params = [] }) =>
        method === "hedera_accounts" ? (notedSession()?.accounts ?? []) : (await load()).request(method, params[0]),
    },
    disconnect: async () => {
      // First, so that it is forgotten also where what tells the wallet cannot be loaded.
      noteSession(undefined);
      await (await load()).disconnect();
    },
  };
}
