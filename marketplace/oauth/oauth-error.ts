/** An OAuth error (RFC 6749, section 5.2). `message` is for the client's developer. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_redirect_uri"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied";

/** The JSON body of the answer. */
export function bodyOf({ code, message }: OAuthError) {
  return { error: code, error_description: message };
}
