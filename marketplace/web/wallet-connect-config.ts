import type { EnvReader } from "../../shared/env.ts";

/** How pages reach wallets that are not in the browser (WalletConnect). */
export interface WalletConnectConfig {
  /** Names the operator at the relay; every page that uses it says it. */
  readonly projectId: string;
  /** Between page and wallet; it sees sealed messages alone. */
  readonly relayUrl: string;
}

/** Undefined where the operator has no project there: then no page offers it. */
export function readWalletConnect(env: EnvReader): WalletConnectConfig | undefined {
  const projectId = env.optional("WALLETCONNECT_PROJECT_ID");
  const relayUrl = env.url("WALLETCONNECT_RELAY_URL", "wss://relay.walletconnect.org", ["wss:", "ws:"]);
  if (projectId === undefined) return undefined;
  if (!/^[\w-]{1,64}$/.test(projectId)) {
    return env.problem("WALLETCONNECT_PROJECT_ID must be the id of a project: letters, digits, _ and -", undefined);
  }
  const { protocol, hostname } = URL.canParse(relayUrl) ? new URL(relayUrl) : { protocol: "", hostname: "" };
  if (protocol === "ws:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname)) {
    return env.problem("WALLETCONNECT_RELAY_URL must be wss:// where it is not this machine", undefined);
  }
  return { projectId, relayUrl };
}
