import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import Provider from "oidc-provider";
import { SMTPServer } from "smtp-server";
import { freePort } from "../../infra/free-port.ts";
import type { Browser } from "./browser.ts";

/** A real mail server that keeps what it is given. */
export async function startMailServer(): Promise<MailServer> {
  const letters: Array<{ to: string[]; body: string }> = [];
  let isRefusing = false;
  const server = new SMTPServer({
    authOptional: true,
    onConnect: (_session, done) => done(isRefusing ? new Error("not now") : null),
    disabledCommands: ["STARTTLS", "AUTH"],
    onData: (stream, session, done) => {
      text(stream).then((body) => {
        letters.push({ to: session.envelope.rcptTo.map(({ address }) => address), body });
        done();
      }, done);
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    // Long lines are broken by the mail's encoding.
    emailTo: async (address) => {
      const body = letters.findLast(({ to }) => to.includes(address))?.body ?? "";
      return body.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    },
    emailsTo: (address) => letters.filter(({ to }) => to.includes(address)).length,
    refuse: (refuses) => {
      isRefusing = refuses;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export interface MailServer {
  readonly url: string;
  emailsTo(address: string): number;
  emailTo(address: string): Promise<string>;
  /** Whether it takes no e-mail from now on. */
  refuse(refuses: boolean): void;
  stop(): Promise<void>;
}

/**
 * A real OpenID Connect provider, for the marketplace at `clientUrl`, whose users are e-mail addresses; one that begins with
 * "unverified" is not verified, of one that begins with "worded" it says so in words.
 */
export async function startOidcProvider(clientUrl: string, options: { listen?: boolean } = {}): Promise<OidcServer> {
  const port = await freePort();
  const server = createServer();
  await once(server.listen(port, "127.0.0.1"), "listening");
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "marketplace",
        client_secret: "a client secret",
        redirect_uris: [`${clientUrl}/api/account/sign-in/callback/oidc`],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    pkce: { required: () => true },
    cookies: { keys: ["a cookie key"] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: isVerified(id), name: id }),
    }),
  });
  server.on("request", provider.callback());
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  if (options.listen === false) await close();
  return {
    issuer,
    clientUrl,
    listen: async () => void (await once(server.listen(port, "127.0.0.1"), "listening")),
    stop: close,
  };
}

/** "false" as text is what some providers say. */
function isVerified(id: string): boolean {
  if (id.startsWith("worded")) return "false" as unknown as boolean;
  return !id.startsWith("unverified");
}

export interface OidcServer {
  readonly issuer: string;
  readonly clientUrl: string;
  listen(): Promise<void>;
  stop(): Promise<void>;
}

/** Goes to the provider as a browser does, logs in there as `email` and agrees; the path it is sent back to. */
export async function callbackOf(provider: OidcServer, browser: Browser, email: string): Promise<string> {
  const { url } = (await browser.post("/api/account/sign-in/oidc", {})).body;
  const cookies = new Map<string, string>();
  const step = async (to: string, form?: Record<string, string>): Promise<string> => {
    const response = await fetch(new URL(to, provider.issuer), {
      redirect: "manual",
      headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") },
      ...(form ? { method: "POST", body: new URLSearchParams(form) } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response.headers.get("location") ?? "";
  };
  let at = await step(url);
  // The provider's own development pages: first who one is, then consent.
  for (const form of [{ prompt: "login", login: email, password: "any" }, { prompt: "consent" }]) {
    at = await step(await step(at, form as Record<string, string>));
  }
  const back = new URL(at);
  if (back.origin !== provider.clientUrl) throw new Error(`the provider leads to ${back.origin}`);
  return `${back.pathname}${back.search}`;
}
