import type { ErrorCode } from "@modelcontextprotocol/sdk/types.js";

/** An error that a JSON-RPC answer carries, by the protocol's own codes. `message` is for the caller. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
