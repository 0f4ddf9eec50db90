/** An error that a JSON-RPC answer carries. `message` and `data` are for the caller. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** JSON-RPC's own code for parameters that cannot be taken. */
export const invalidParams = -32_602;
export const invalidRequest = -32_600;
export const internalError = -32_603;
