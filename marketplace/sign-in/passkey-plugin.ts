import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { passkeyColumns } from "./tables.ts";

/**
 * better-auth's plugin, bound to the public URL. A passkey signs in by itself, so it counts only where the authenticator checked who
 * holds it (PIN, finger, face), which the plugin prefers and does not insist on.
 */
export function passkeysOf(publicUrl: string) {
  const { hostname, origin } = new URL(publicUrl);
  return passkey({
    rpID: hostname,
    rpName: hostname,
    origin,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: "passkey_challenge" },
    schema: passkeyColumns,
    registration: {
      afterVerification: async ({ verification }) => requireVerifiedUser(verification.registrationInfo?.userVerified),
    },
    authentication: {
      afterVerification: async ({ verification }) => requireVerifiedUser(verification.authenticationInfo.userVerified),
    },
  });
}

function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError("BAD_REQUEST", { message: "the authenticator did not check who holds it" });
}
