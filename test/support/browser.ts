import { type Answer, call, type TestMarketplace } from "./marketplace.ts";

/** Keeps cookies between requests, as a browser does, and holds every answer against the OpenAPI document. */
export class Browser {
  readonly #url: string;
  readonly #address: string;
  readonly #cookies = new Map<string, string>();

  constructor(url: string, address = `10.${byte()}.${byte()}.${byte()}`) {
    this.#url = url;
    this.#address = address;
  }

  get = (path: string, headers: Record<string, string> = {}) => this.#ask("GET", path, undefined, headers);
  post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    this.#ask("POST", path, body ?? {}, headers);
  put = (path: string, body: unknown) => this.#ask("PUT", path, body);
  patch = (path: string, body: unknown) => this.#ask("PATCH", path, body);
  delete = (path: string) => this.#ask("DELETE", path, undefined);

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async #ask(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await call(this.#url, path, {
      method,
      body,
      headers: { cookie: this.cookie, "x-forwarded-for": this.#address, ...headers },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}

/** A person signed in by e-mail on a developer's machine, where the link is shown. */
export async function signedIn(market: Pick<TestMarketplace, "url">, email = newEmail()): Promise<Browser> {
  const browser = new Browser(market.url);
  const { link } = (await browser.post("/api/account/sign-in/email", { email })).body;
  await browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
  return browser;
}

/** The same with an account of their own. */
export async function withAccount(market: Pick<TestMarketplace, "url">): Promise<{ browser: Browser; handle: string }> {
  const browser = await signedIn(market);
  const handle = `person-${Math.random().toString(36).slice(2, 10)}`;
  const { status } = await browser.post("/api/account", { handle });
  if (status !== 201) throw new Error(`the account could not be opened: ${status}`);
  return { browser, handle };
}

const byte = () => Math.floor(Math.random() * 256);

export function newEmail() {
  return `${Math.random().toString(36).slice(2)}@example.com`;
}

export function tokenIn(link: string) {
  return new URL(link).searchParams.get("token") as string;
}
