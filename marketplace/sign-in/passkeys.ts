import { isIP } from "node:net";
import { getAuthenticatorName } from "@better-auth/passkey";
import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { dropEmail, type Email, emailIsDue, prepareEmail, securityEmail } from "../accounts/account-emails.ts";
import { accountOfUser } from "../accounts/users.ts";
import { programOf } from "../seen-client.ts";
import { type Auth, headersOf, passCookies, requireAuth } from "./auth.ts";
import { requireFresh } from "./fresh-session.ts";
import type { Assertion, Attestation } from "./passkey-shapes.ts";
import type { Session } from "./sessions.ts";

export const passkeysMax = 10;

/** Passkeys (WebAuthn): a signed-in person adds them, and each then signs in by itself. A challenge belongs to one browser and works once. */
export class Passkeys {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Browsers bind passkeys to a name; an address is none. */
  get isSetUp(): boolean {
    const { hostname } = new URL(this.#needs.publicUrl);
    return this.#needs.auth !== undefined && isIP(hostname.replace(/^\[|\]$/g, "")) === 0;
  }

  /** What the browser is to make a passkey of. 403 for a session that is not fresh, 409 past ten passkeys. */
  async askToAdd(request: Request, response: Response, session: Session): Promise<Options> {
    const { api } = this.#require();
    await requireFresh(this.#needs.db, session);
    if ((await this.#count(session)) >= passkeysMax) throw tooMany();
    const asked = { headers: headersOf(request), asResponse: true } as const;
    const answer = await api.generatePasskeyRegistrationOptions(asked);
    return optionsOf(answer, response);
  }

  /** Keeps a passkey that answers the challenge, and its e-mail before it; answers its name. 422 for one that does not. */
  async add(request: Request, session: Session, attestation: Attestation): Promise<AddedPasskey> {
    const { api } = this.#require();
    const { db } = this.#needs;
    await requireFresh(db, session);
    if ((await this.#count(session)) >= passkeysMax) throw tooMany();
    const body = { response: attestation, name: programOf(request.headers["user-agent"]) ?? "Passkey" };
    const account = await accountOfUser(db, session.userId);
    const mail = account && (await prepareEmail(db, account.id, this.#mailOf(body.name), attestation.id));
    const answer = await api.verifyPasskeyRegistration({ body, headers: headersOf(request), asResponse: true });
    if (answer.status !== 200) {
      // A failure of the server's own need not mean that nothing is stored: the e-mail finds out by itself.
      if (mail && answer.status < 500) await dropEmail(db, mail);
      const field = { body: { field: "response" } };
      throw new ApiError(
        "invalid_value",
        '"response" does not answer the challenge, or the passkey is known; begin again.',
        field,
      );
    }
    const added = await this.#named(session, (await answer.json()).id);
    if (mail) await emailIsDue(db, mail, this.#mailOf(added.name));
    return added;
  }

  /** What the browser is to sign to sign in, before it is known whose it is. */
  async askToEnter(request: Request, response: Response): Promise<Options> {
    const { api } = this.#require();
    // Without the session: a person's passkeys are not listed to a visitor, and a person who is signed in may sign in as another.
    const headers = new Headers(headersOf(request));
    headers.delete("cookie");
    const answer = await api.generatePasskeyAuthenticationOptions({ headers, asResponse: true });
    return { ...(await optionsOf(answer, response)), userVerification: "required" };
  }

  /** A session for the passkey's holder. 401 for a signature that does not hold, or a challenge that is used, too old or another's. */
  async enter(request: Request, response: Response, assertion: Assertion): Promise<void> {
    const { api } = this.#require();
    const asked = { body: { response: assertion }, headers: headersOf(request), asResponse: true } as const;
    const answer = await api.verifyPasskeyAuthentication(asked);
    if (answer.status >= 500)
      throw new ApiError("unavailable", "Passkeys cannot be checked right now; try again shortly.");
    if (answer.status !== 200 || !passCookies(answer, response)) {
      throw new ApiError(
        "unauthenticated",
        "This passkey does not sign in here, or the page waited too long; try again.",
      );
    }
    await this.#needs.db.query("update sign_in_passkeys set used_at = now() where credential_id = $1", [assertion.id]);
  }

  #mailOf(name: string): Email {
    const what = `The passkey “${name}” was added to your account: from now on it signs in.`;
    return securityEmail(this.#needs.publicUrl, "passkey", "A passkey was added", what);
  }

  #require(): Auth {
    const auth = requireAuth(this.#needs.auth);
    if (this.isSetUp) return auth;
    throw new ApiError("not_found", "There are no passkeys here: the service has an address and no name.");
  }

  async #count({ userId }: Session): Promise<number> {
    const { rows } = await this.#needs.db.query<{ passkeys: number }>(
      "select count(*)::integer as passkeys from sign_in_passkeys where user_id = $1",
      [userId],
    );
    return rows[0]!.passkeys;
  }

  /**
   * Its authenticator's name where that is known, and otherwise the browser's. Of many that were added at once, those past the
   * limit go.
   */
  async #named({ userId }: Session, id: string): Promise<AddedPasskey> {
    const { db } = this.#needs;
    const { rowCount } = await db.query(
      `delete from sign_in_passkeys where id = $1
         and (select count(*) from sign_in_passkeys where user_id = $2) > ${passkeysMax}`,
      [id, userId],
    );
    if (rowCount === 1) throw tooMany();
    const { rows } = await db.query<AddedPasskey & { aaguid: string | null }>(
      "select id, name, aaguid from sign_in_passkeys where id = $1",
      [id],
    );
    const { name, aaguid } = rows[0]!;
    const known = getAuthenticatorName(aaguid);
    if (!known) return { id, name };
    await db.query("update sign_in_passkeys set name = $2 where id = $1", [id, known]);
    return { id, name: known };
  }
}

export interface AddedPasskey {
  readonly id: string;
  readonly name: string;
}

/** The form that the browser's `PublicKeyCredential.parse…OptionsFromJSON` reads. */
type Options = Readonly<Record<string, unknown>>;

async function optionsOf(answer: globalThis.Response, response: Response): Promise<Options> {
  if (answer.status !== 200)
    throw new ApiError("unavailable", "Passkeys cannot be asked for right now; try again shortly.");
  passCookies(answer, response);
  return (await answer.json()) as Options;
}

function tooMany(): ApiError {
  return new ApiError("conflict", `No more than ${passkeysMax} passkeys: remove one first.`);
}

interface Needs {
  readonly auth: Auth | undefined;
  readonly db: Database;
  readonly publicUrl: string;
}
