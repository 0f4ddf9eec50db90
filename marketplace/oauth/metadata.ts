import type { Config } from "../config.ts";

/** What a token opens: the tool server, and nothing else here. */
export const toolServerPath = "/api/mcp";
/** The one scope: to see and run the agents that the person chose, within the limits they set. */
export const scope = "agents";

export const paths = {
  authorize: "/api/oauth/authorize",
  token: "/api/oauth/token",
  register: "/api/oauth/register",
  revoke: "/api/oauth/revoke",
} as const;

export interface MetadataNeeds {
  readonly config: Pick<Config, "publicUrl">;
}

/** The resource that tokens are bound to (RFC 8707). */
export function toolServerOf({ config }: MetadataNeeds): string {
  return `${config.publicUrl}${toolServerPath}`;
}

/** RFC 9728. */
export function resourceMetadata(needs: MetadataNeeds) {
  return {
    resource: toolServerOf(needs),
    resource_name: "Agents as tools",
    authorization_servers: [needs.config.publicUrl],
    scopes_supported: [scope],
    bearer_methods_supported: ["header"],
    resource_documentation: `${needs.config.publicUrl}/docs/mcp`,
  };
}

export function resourceMetadataUrl({ config }: MetadataNeeds): string {
  return `${config.publicUrl}/.well-known/oauth-protected-resource${toolServerPath}`;
}

/** RFC 8414. */
export function serverMetadata({ config: { publicUrl } }: MetadataNeeds) {
  return {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}${paths.authorize}`,
    token_endpoint: `${publicUrl}${paths.token}`,
    registration_endpoint: `${publicUrl}${paths.register}`,
    revocation_endpoint: `${publicUrl}${paths.revoke}`,
    scopes_supported: [scope],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${publicUrl}/docs/mcp`,
  };
}
