/** A refusal as RFC 6749 names it. `message` is for the client's developer. */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type RefusalCode =
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

/** In the form of an OAuth error. */
export function bodyOf({ code, message }: OAuthRefusal) {
  return { error: code, error_description: message };
}
