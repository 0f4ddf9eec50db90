import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";
import { mailboxOf } from "../accounts/users.ts";

const cookie = "signed_in_as";
/** Where links are asked for. With other pages the cookie would make each of them its reader's own. */
const paths = ["/sign-in", "/api/account/sign-in"];
/** Browsers keep no cookie for longer. */
const keptDays = 400;

/** Browsers that opened a link of a mailbox before: a cookie names the last one, in a way that its reader cannot tell and others cannot make. */
export class KnownBrowsers {
  readonly #secret: string;
  readonly #isHttps: boolean;

  constructor(secret: string, publicUrl: string) {
    this.#secret = secret;
    this.#isHttps = publicUrl.startsWith("https:");
  }

  remember(response: Response, email: string): void {
    const value = this.#markOf(email);
    for (const path of paths) {
      response.cookie(cookie, value, {
        path,
        httpOnly: true,
        sameSite: "lax",
        secure: this.#isHttps,
        maxAge: keptDays * 24 * 60 * 60 * 1000,
      });
    }
  }

  knows({ headers }: Request, email: string): boolean {
    const shown = new RegExp(`(?:^|; )${cookie}=([\\w-]+)(?:;|$)`).exec(headers.cookie ?? "")?.[1] ?? "";
    const [own, given] = [Buffer.from(this.#markOf(email)), Buffer.from(shown)];
    return own.length === given.length && timingSafeEqual(own, given);
  }

  #markOf(email: string): string {
    return createHmac("sha256", this.#secret)
      .update(`signed in as ${mailboxOf(email)}`)
      .digest("base64url");
  }
}
