import type { Queryable } from "../../shared/postgres.ts";
import type { ClientTokens } from "../api-keys/require-key.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { keyDigestOf } from "./grants.ts";
import { type MetadataNeeds, resourceMetadataUrl, toolServerPath } from "./metadata.ts";

export interface OAuthSetUp {
  readonly signIn: Pick<SignIn, "ways">;
}

/** Clients are allowed by people, who must be able to sign in. */
export function isSetUp({ signIn: { ways } }: OAuthSetUp): boolean {
  return ways.email || ways.oidc !== null;
}

/** What the tool server takes instead of a key. */
export function clientTokens(needs: MetadataNeeds & OAuthSetUp & { readonly db: Queryable }): ClientTokens | undefined {
  if (!isSetUp(needs)) return undefined;
  return {
    path: toolServerPath,
    metadataUrl: resourceMetadataUrl(needs),
    keyDigestOf: (token) => keyDigestOf(needs.db, token),
  };
}
