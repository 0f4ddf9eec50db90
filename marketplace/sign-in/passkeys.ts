import { isIP } from "node:net";
import { getAuthenticatorName } from "@better-auth/passkey";
import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { tooManyWait } from "../accounts/account-emails.ts";
import { requireFresh } from "../fresh-session.ts";
import { programOf } from "../seen-client.ts";
import { type Auth, headersOf, passCookies, requireAuth } from "./auth.ts";
import { dropAdded, tellAdded } from "./passkey-emails.ts";
import { checked } from "./passkey-plugin.ts";
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

  /** Keeps a passkey that answers the challenge, and its e-mail before it; answers its name. 422 for one that does not, 503 where it cannot be kept. */
  async add(request: Request, session: Session, attestation: Attestation): Promise<AddedPasskey> {
    const { api } = this.#require();
    const { userId } = session;
    await requireFresh(this.#needs.db, session);
    if ((await this.#count(session)) >= passkeysMax) throw tooMany();
    requireOwnOrigin(this.#needs.publicUrl, attestation);
    const body = { response: attestation, name: programOf(request.headers["user-agent"]) ?? "Passkey" };
    const asked = { body, headers: headersOf(request), asResponse: true } as const;
    const { answer, holds } = await checked(() => api.verifyPasskeyRegistration(asked));
    if (answer.status === 429) throw tooManyWait();
    if (answer.status !== 200) {
      if (holds && answer.status !== 409) throw failedHere();
      throw refused('"response" does not answer the challenge, or the passkey is known; begin again.');
    }
    const { id, credentialID: credentialId } = await answer.json();
    const added = await this.#named(session, id);
    if (!added) {
      await dropAdded(this.#needs, { userId, credentialId });
      throw tooMany();
    }
    await tellAdded(this.#needs, { userId, credentialId, name: added.name });
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

  /** A session for the passkey's holder. 401 for a signature that does not hold, or a challenge that is used, too old or another's; 503 where it cannot be checked. */
  async enter(request: Request, response: Response, assertion: Assertion): Promise<void> {
    const { api } = this.#require();
    const asked = { body: { response: assertion }, headers: headersOf(request), asResponse: true } as const;
    const { answer, holds } = await checked(() => api.verifyPasskeyAuthentication(asked));
    if (answer.status >= 500 || (holds && answer.status !== 200)) throw failedHere();
    if (answer.status !== 200 || !passCookies(answer, response)) {
      throw new ApiError(
        "unauthenticated",
        "This passkey does not sign in here, or the page waited too long; try again.",
      );
    }
    await this.#needs.db.query("update sign_in_passkeys set used_at = now() where credential_id = $1", [assertion.id]);
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
   * limit go: undefined.
   */
  async #named({ userId }: Session, id: string): Promise<AddedPasskey | undefined> {
    const { db } = this.#needs;
    const { rowCount } = await db.query(
      `delete from sign_in_passkeys where id = $1
         and (select count(*) from sign_in_passkeys where user_id = $2) > ${passkeysMax}`,
      [id, userId],
    );
    if (rowCount === 1) return undefined;
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

function failedHere(): ApiError {
  return new ApiError("unavailable", "Passkeys cannot be checked right now; try again shortly.");
}

function tooMany(): ApiError {
  return new ApiError("conflict", `No more than ${passkeysMax} passkeys: remove one first.`);
}

/** The library fails on another's as on a fault of this side. */
function requireOwnOrigin(publicUrl: string, { response }: Attestation): void {
  const own = new URL(publicUrl).origin;
  const origin = originOf(response.clientDataJSON);
  if (typeof origin !== "string" || origin === own) return;
  throw refused(`"response" was not made at ${own}, where passkeys are added.`);
}

function originOf(clientData: string): unknown {
  try {
    return JSON.parse(Buffer.from(clientData, "base64url").toString())?.origin;
  } catch {
    return undefined;
  }
}

function refused(message: string): ApiError {
  return new ApiError("invalid_value", message, { body: { field: "response" } });
}

interface Needs {
  readonly auth: Auth | undefined;
  readonly db: Database;
  readonly publicUrl: string;
}
