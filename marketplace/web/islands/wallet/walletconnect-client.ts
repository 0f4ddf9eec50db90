import type { SignClient } from "@walletconnect/sign-client";
import type { NotedSession } from "./noted-session.ts";

export type Client = InstanceType<typeof SignClient>;
export type Session = ReturnType<Client["session"]["get"]>;

/** The stock client of WalletConnect's relay. It is large, and loaded when a wallet is first needed. */
export async function startClient(
  { project = "", relay = "", site = "" }: DOMStringMap,
  changed: (session: Session | undefined) => void,
): Promise<Client> {
  const { SignClient } = await import("@walletconnect/sign-client");
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href;
  const { origin } = location;
  const client = await SignClient.init({
    projectId: project,
    relayUrl: relay,
    metadata: { name: site, description: `${site}, ${location.host}`, url: origin, icons: icon ? [icon] : [] },
    telemetryEnabled: false,
    logger: "silent",
  });
  // Otherwise the client would load a frame of WalletConnect's own, which tells wallets that the address is vouched for.
  client.core.verify.register = async () => "";
  // Beside each promise of its own that times out the client leaves a second one without a handler.
  addEventListener("unhandledrejection", (event) => {
    if (/^(Proposal|Request) expired/.test(String(event.reason?.message))) event.preventDefault();
  });
  client.on("session_update", ({ topic }) => changed(client.session.get(topic)));
  for (const event of ["session_delete", "session_expire"] as const)
    client.on(event, () => changed(sessions(client)[0]));
  return client;
}

export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  override readonly message =
    "WalletConnect’s relay does not answer. Check your connection, and whether something blocks it; then try again.";
}

/** By itself the client tries for minutes before it gives up. */
const reachMs = 15_000;

/** Throws UnreachableError where what needs the relay takes too long, or fails. */
export function throughRelay<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new UnreachableError());
    const timer = setTimeout(giveUp, reachMs);
    work.then(resolve, giveUp).finally(() => clearTimeout(timer));
  });
}

/** Connects a client again that lost the relay. */
export async function reachRelay({ core: { relayer } }: Client): Promise<void> {
  if (!relayer.connected) await throughRelay(relayer.transportOpen());
}

/** What the page keeps of it. */
export function notedOf(session: Session): NotedSession {
  const { name } = session.peer.metadata;
  return { name: name.slice(0, 40), accounts: accountsOf(session), endsAt: session.expiry * 1_000 };
}

export function accountsOf(session: Session): readonly string[] {
  return session.namespaces.hedera?.accounts ?? [];
}

export function sessions(client: Client): readonly Session[] {
  return client.session.getAll().filter(({ expiry }) => expiry * 1_000 > Date.now());
}

/** The relay tells wallets that are away when they are back. */
export async function endSessions(client: Client, which: (session: Session) => boolean): Promise<void> {
  const reason = { code: 6_000, message: "User disconnected." };
  const ending = client.session.getAll().filter(which);
  await Promise.all(ending.map(({ topic }) => client.disconnect({ topic, reason }).catch(() => undefined)));
}

export class EndedError extends Error {
  override readonly name = "EndedError";
  override readonly message = "The wallet ended the connection. Press again to connect it.";
}

/** Rejects when the wallet ends the session: what was asked in it is not answered any more. */
export function ended(client: Client, topic: string, stopped: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onEnd = (event: { readonly topic: string }) => {
      if (event.topic === topic) reject(new EndedError());
    };
    client.on("session_delete", onEnd);
    stopped.addEventListener("abort", () => client.off("session_delete", onEnd), { once: true });
  });
}
