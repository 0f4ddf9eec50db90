/** The closed set of codes a caller can meet, and the one place that gives each its HTTP status. */
export const statusByCode = {
  bad_request: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  too_slow: 408,
  conflict: 409,
  gone: 410,
  too_large: 413,
  invalid_value: 422,
  rate_limited: 429,
  internal: 500,
  upstream_failed: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/**
 * An answer that is not the one hoped for. `message` and `body` are for the caller; `cause` is for the log only.
 * Everything else that is thrown is our own bug and reaches the caller as a bare 500.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    extra: { body?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.code = code;
    this.body = extra.body ?? {};
    this.headers = extra.headers ?? {};
  }

  get status(): number {
    return statusByCode[this.code];
  }

  /** A fault of this side, which the caller can neither put right nor wait for. */
  get isFault(): boolean {
    return this.status >= 500 && this.code !== "unavailable";
  }
}
