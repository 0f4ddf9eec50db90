import { AsyncLocalStorage } from "node:async_hooks";
import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { prepareAdded } from "./passkey-emails.ts";
import { passkeyColumns } from "./tables.ts";

/**
 * better-auth's plugin, bound to the public URL. A passkey signs in by itself, so it counts only where the authenticator checked who
 * holds it (PIN, finger, face), which the plugin prefers and does not insist on. The e-mail that tells of a new one is kept between its
 * attestation's check and its storing, so that an attestation that does not hold keeps none.
 */
export function passkeysOf(needs: Needs) {
  const { publicUrl } = needs;
  const { hostname, origin } = new URL(publicUrl);
  return passkey({
    rpID: hostname,
    rpName: hostname,
    origin,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: "passkey_challenge" },
    schema: passkeyColumns,
    registration: {
      afterVerification: async ({ ctx, verification: { registrationInfo }, user }) => {
        requireVerifiedUser(registrationInfo?.userVerified);
        noteThatItHolds();
        const credentialId = registrationInfo!.credential.id;
        await requireNew(needs.db, credentialId);
        await prepareAdded(needs, { userId: user.id, credentialId, name: ctx.body.name }).catch(asItsOwn);
      },
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        requireVerifiedUser(verification.authenticationInfo.userVerified);
        noteThatItHolds();
      },
    },
  });
}

/** Of one answer of an authenticator. */
const checks = new AsyncLocalStorage<{ holds: boolean }>();

/**
 * Has the plugin check an authenticator's answer, and says whether it holds: the plugin tells what fails afterwards on our side as it
 * tells an answer that does not hold.
 */
export async function checked(ask: () => Promise<Response>): Promise<{ answer: Response; holds: boolean }> {
  const check = { holds: false };
  const answer = await checks.run(check, ask);
  return { answer, holds: check.holds };
}

function noteThatItHolds(): void {
  const check = checks.getStore();
  if (check) check.holds = true;
}

function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError("BAD_REQUEST", { message: "the authenticator did not check who holds it" });
}

async function requireNew(db: Database, credentialId: string): Promise<void> {
  const { rowCount } = await db.query("select from sign_in_passkeys where credential_id = $1", [credentialId]);
  if (rowCount !== 0) throw new APIError("CONFLICT", { message: "the passkey is known" });
}

/** The plugin makes a 500 of every error that is not its library's. */
function asItsOwn(error: unknown): never {
  throw error instanceof ApiError && error.code === "rate_limited"
    ? new APIError("TOO_MANY_REQUESTS", { message: error.message })
    : error;
}

interface Needs {
  readonly db: Database;
  readonly publicUrl: string;
}
