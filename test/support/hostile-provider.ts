import { createSign, generateKeyPairSync } from "node:crypto";
import { startHttpServer } from "./http-server.ts";

/** An OpenID Connect provider that says what it is told to, signed with its key or with another. */
export async function startHostileProvider(clientId: string): Promise<HostileProvider> {
  const [own, other] = [1, 2].map(() => generateKeyPairSync("rsa", { modulusLength: 2048 })) as [KeyPair, KeyPair];
  let lie: Lie = {};
  let nonce = "";
  const server = await startHttpServer((request, response) => {
    const path = new URL(request.url ?? "/", issuer).pathname;
    if (path === lie.failing?.path) return void response.writeHead(lie.failing.status).end("not now");
    const said = answers[path]?.();
    response.writeHead(said ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(said ?? {}));
  });
  const issuer = server.url;
  const person = { sub: "person", email: "person@example.com", email_verified: true };
  const answers: Record<string, () => object> = {
    "/.well-known/openid-configuration": () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      id_token_signing_alg_values_supported: ["RS256"],
    }),
    "/keys": () => ({ keys: [{ ...own.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }] }),
    "/userinfo": () => ({ ...person, ...lie.profile }),
    "/token": () => {
      const now = Math.floor(Date.now() / 1_000);
      const usual = { iss: issuer, aud: clientId, sub: "person", iat: now, exp: now + 60, nonce };
      const key = lie.otherKey ? other : own;
      const idToken = lie.noToken ? undefined : sign({ ...usual, ...lie.claims }, key, lie.algorithm);
      return { access_token: "access", token_type: "Bearer", expires_in: 60, id_token: idToken };
    },
  };
  return {
    issuer,
    tell: (next, asked) => {
      lie = next;
      nonce = asked;
    },
    stop: server.stop,
  };
}

/** A claim that is undefined is left out. */
function sign(claims: object, { privateKey }: KeyPair, alg = "RS256"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg, kid: "1" })}.${part(claims)}`;
  if (alg === "none") return `${text}.`;
  return `${text}.${createSign("sha256").update(text).sign(privateKey, "base64url")}`;
}

type KeyPair = ReturnType<typeof generateKeyPairSync>;

export interface Lie {
  readonly noToken?: true;
  readonly claims?: object;
  readonly profile?: object;
  readonly otherKey?: true;
  readonly algorithm?: string;
  /** An address of the provider that answers with that status instead. */
  readonly failing?: { readonly path: string; readonly status: number };
}

export interface HostileProvider {
  readonly issuer: string;
  /** What the next answers are, for a sign-in that was begun with this nonce. */
  tell(lie: Lie, nonce: string): void;
  stop(): Promise<void>;
}
