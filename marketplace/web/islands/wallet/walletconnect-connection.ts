import type { noteSession } from "./noted-session.ts";
import {
  accountsOf,
  type Client,
  EndedError,
  ended,
  endSessions,
  notedOf,
  reachRelay,
  type Session,
  sessions,
  startClient,
  throughRelay,
  UnreachableError,
} from "./walletconnect-client.ts";
import { StoppedError, WalletDialog } from "./walletconnect-dialog.ts";

/** HIP-820's methods that only sign: what is signed is sent by the facilitator, or proves whose the wallet is. */
const methods = ["hedera_signTransaction", "hedera_signMessage"];

let known: Connection | undefined;

/** The page's one connection to wallets that are not in the browser. */
export function connection(settings: DOMStringMap, note: typeof noteSession): Connection {
  known ??= new Connection(settings, note);
  return known;
}

class Connection {
  readonly #settings: DOMStringMap;
  readonly #dialog = new WalletDialog();
  readonly #note: typeof noteSession;
  #client: Promise<Client> | undefined;

  constructor(settings: DOMStringMap, note: typeof noteSession) {
    this.#settings = settings;
    this.#note = note;
  }

  /** Answers as a wallet in the browser does (EIP-1193). */
  async request(method: string, asked: unknown): Promise<unknown> {
    if (method === "hedera_requestAccounts") return this.#connect(String(asked));
    if (methods.includes(method)) return this.#sign(method, asked as { signerAccountId: string });
    throw Object.assign(new Error(`Hedera wallets have no ${method}.`), { code: 4200 });
  }

  async disconnect(): Promise<void> {
    await endSessions(await this.#started(), () => true);
  }

  /** Has a wallet scan a code, as often as it takes. */
  #connect(network: string): Promise<readonly string[]> {
    return this.#dialog.around(async (stopped) => {
      for (;;) {
        const made = await this.#pair(network, stopped).catch((error: unknown) => ({ error }));
        if ("topic" in made) return accountsOf(made);
        // The dialog may be another attempt's by now.
        stopped.throwIfAborted();
        const { title, said } = made.error instanceof NoAccountError ? made.error : problemOf(made.error);
        await this.#dialog.again(title, said);
      }
    });
  }

  async #pair(network: string, stopped: AbortSignal): Promise<Session> {
    const title = "Connect a Hedera wallet";
    this.#dialog.tell(title, "A connection is made…");
    const client = await this.#started();
    const optionalNamespaces = { hedera: { chains: [network], methods, events: [] } };
    const { uri = "", approval } = await throughRelay(client.connect({ optionalNamespaces }));
    stopped.throwIfAborted();
    this.#dialog.tell(title, "Scan this with a Hedera wallet, such as HashPack, and approve the connection there.");
    this.#dialog.showLink(uri);
    const session = await approval();
    const isWanted = !stopped.aborted && accountsOf(session).some((account) => account.startsWith(`${network}:`));
    await endSessions(client, ({ topic }) => (topic === session.topic) !== isWanted);
    if (!isWanted) throw new NoAccountError(this.#nameOf(network));
    this.#note(notedOf(session));
    return session;
  }

  /** Has the connected wallet sign. */
  async #sign(method: string, asked: { readonly signerAccountId: string }): Promise<unknown> {
    const { signerAccountId } = asked;
    const chainId = signerAccountId.split(":", 2).join(":");
    const work = async (stopped: AbortSignal) => {
      this.#dialog.tell("Confirm in your wallet", "A connection is made…");
      const client = await this.#started();
      const session = sessions(client).find((one) => accountsOf(one).includes(signerAccountId));
      if (!session) {
        this.#note(undefined);
        throw new Error("The wallet is no longer connected. Press again to connect it.");
      }
      await reachRelay(client);
      stopped.throwIfAborted();
      this.#tellSigner(session);
      const request = { method, params: asked };
      const answer = client.request({ topic: session.topic, chainId, request });
      return Promise.race([answer, ended(client, session.topic, stopped)]);
    };
    return this.#dialog.around(work).catch((error: unknown) => {
      throw refusalOf(error);
    });
  }

  #tellSigner({ peer: { metadata } }: Session): void {
    const wallet = metadata.name.slice(0, 40) || "your wallet";
    this.#dialog.tell(`Confirm in ${wallet}`, `${wallet} shows what it signs. This page waits for its answer.`);
    const link = linkOf(metadata.redirect?.universal) ?? linkOf(metadata.redirect?.native);
    if (link) this.#dialog.offerToOpen(`Open ${wallet}`, link);
  }

  #started(): Promise<Client> {
    this.#client ??= startClient(this.#settings, (session) => this.#note(session && notedOf(session))).catch(
      (error: unknown) => {
        this.#client = undefined;
        throw error;
      },
    );
    return this.#client;
  }

  #nameOf(network: string): string {
    const { networks = "", networkNames = "" } = this.#settings;
    return networkNames.split(",")[networks.split(" ").indexOf(network)] ?? network;
  }
}

class NoAccountError extends Error {
  readonly title = "No account on that network";
  readonly said: string;

  constructor(network: string) {
    super(`The wallet showed no account on ${network}.`);
    this.said = `The wallet showed no account on ${network}. Switch it to that network, and connect it again.`;
  }
}

/** Why no connection came about, and what a person can do. */
function problemOf(error: unknown): { readonly title: string; readonly said: string } {
  const { code, message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (String(message).includes("expired")) {
    return { title: "The code is no longer good", said: "No wallet took it within five minutes. Make another one." };
  }
  if (isRefusal(code)) {
    return { title: "The wallet declined", said: "Nothing was connected. Try again, or use another wallet." };
  }
  return { title: "The wallet cannot be reached", said: new UnreachableError().message };
}

/** The error in the form in which wallets in the browser refuse. */
function refusalOf(error: unknown): unknown {
  if (error instanceof StoppedError) return error;
  const { code, message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (isRefusal(code)) return Object.assign(new Error("declined"), { code: 4001 });
  if (isEnd(code)) return new EndedError();
  if (String(message).includes("expired")) return new Error("The wallet did not answer within five minutes.");
  return error;
}

/** A person's "no", as EIP-1193 and as WalletConnect number it. */
const isRefusal = (code: unknown) => code === 4001 || (typeof code === "number" && code >= 5000 && code < 5100);

/** The reasons for which a session ends, as WalletConnect numbers them: their words are the wallet's. */
const isEnd = (code: unknown) => typeof code === "number" && code >= 6000 && code < 6100;

/** An address that opens the wallet; undefined for any other that the wallet gives. */
function linkOf(address: string | undefined): string | undefined {
  return address && /^(?!(?:javascript|data|blob|file|vbscript):)[a-z][a-z0-9+.-]*:/i.test(address)
    ? address
    : undefined;
}
