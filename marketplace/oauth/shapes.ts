import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import type { Tokens } from "./grants.ts";
import type { resourceMetadata, serverMetadata } from "./metadata.ts";

export const resourceShape = covering<ReturnType<typeof resourceMetadata>>()(
  z
    .object({
      resource: z.string(),
      resource_name: z.string(),
      authorization_servers: z.array(z.string()),
      scopes_supported: z.array(z.string()),
      bearer_methods_supported: z.array(z.string()),
      resource_documentation: z.string(),
    })
    .meta({ id: "ResourceMetadata" }),
);

export const serverShape = covering<ReturnType<typeof serverMetadata>>()(
  z
    .object({
      issuer: z.string(),
      authorization_endpoint: z.string(),
      token_endpoint: z.string(),
      registration_endpoint: z.string(),
      revocation_endpoint: z.string(),
      scopes_supported: z.array(z.string()),
      response_types_supported: z.array(z.string()),
      response_modes_supported: z.array(z.string()),
      grant_types_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()),
      revocation_endpoint_auth_methods_supported: z.array(z.string()),
      code_challenge_methods_supported: z.array(z.string()),
      authorization_response_iss_parameter_supported: z.boolean(),
      client_id_metadata_document_supported: z.boolean(),
      service_documentation: z.string(),
    })
    .meta({ id: "AuthorizationServerMetadata" }),
);

/** Refusals as OAuth has them; what comes before, such as a body that is no form, in the usual one. */
export const oauthErrorShape = z
  .object({
    error: z.string().describe("As RFC 6749 and 7591 name it."),
    error_description: z.string().optional(),
    field: z.string().optional(),
  })
  .meta({ id: "OAuthError" });

export const clientShape = z
  .object({
    client_id: z.string(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    token_endpoint_auth_method: z.literal("none"),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
  })
  .meta({ id: "OAuthClient" });

export const tokensShape = covering<Tokens>()(
  z
    .object({
      access_token: z.string(),
      token_type: z.literal("Bearer"),
      expires_in: z.int(),
      refresh_token: z.string(),
      scope: z.string(),
    })
    .meta({ id: "OAuthTokens" }),
);

const clientId = z.string().describe("As registered, or the https address of the client's metadata document.");
const resource = z.string().optional().describe("The tool server's address; tokens are for nothing else.");

/** What a client's tokens are asked for with (RFC 6749, 4.1.3 and 6; RFC 7636). */
export const exchangeForm = z.discriminatedUnion("grant_type", [
  z.object({
    grant_type: z.literal("authorization_code"),
    client_id: clientId,
    code: z
      .string()
      .describe("Of `authorization_code`: from the address that the person was led back to. Good for a minute, once."),
    redirect_uri: z.string().describe("Of `authorization_code`: the one that the code was asked with."),
    code_verifier: z.string().describe("Of `authorization_code`: its SHA-256 was the `code_challenge`."),
    resource,
  }),
  z.object({
    grant_type: z.literal("refresh_token"),
    client_id: clientId,
    refresh_token: z.string().describe("Of `refresh_token`: the newest one."),
    resource,
  }),
]);

/** The form that gives a token back (RFC 7009, 2.1). */
export const revokeForm = z.object({
  token: z.string().describe("An access token or a refresh token."),
  client_id: clientId,
});
