import { type Browser, signedIn, withAccount } from "../../support/browser.ts";
import type { TestMarketplace } from "../../support/marketplace.ts";

/** What a page of the console answered. */
export interface Answered {
  readonly status: number;
  /** Where a redirect leads. */
  readonly location: string | null;
  readonly headers: Headers;
  readonly html: string;
}

/** A person who is signed in and uses pages and forms without JavaScript. */
export class Person {
  readonly #url: string;
  readonly browser: Browser;
  readonly handle: string;

  constructor(url: string, browser: Browser, handle: string) {
    this.#url = url;
    this.browser = browser;
    this.handle = handle;
  }

  get = (path: string) => this.#ask(path, {});

  /** Posts a form's fields to a page. */
  post = (path: string, fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
    this.#ask(path, { method: "POST", body: new URLSearchParams(fields), headers });

  async #ask(
    path: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> },
  ): Promise<Answered> {
    const answer = await fetch(this.#url + path, {
      ...init,
      redirect: "manual",
      headers: { accept: "text/html", cookie: this.browser.cookie, ...headers },
    });
    const { status, headers: said } = answer;
    return { status, headers: said, location: said.get("location"), html: await answer.text() };
  }
}

/** A new person with an account of their own. */
export async function newPerson(market: Pick<TestMarketplace, "url">): Promise<Person> {
  const { browser, handle } = await withAccount(market);
  return new Person(market.url, browser, handle);
}

/** A new person without one. */
export async function newcomer(market: Pick<TestMarketplace, "url">): Promise<Person> {
  return new Person(market.url, await signedIn(market), "");
}
