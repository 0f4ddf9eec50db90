import { proto } from "@hiero-ledger/proto";

/** A chain status other than SUCCESS, thrown by a check and turned into a precheck code or a receipt. */
export class RefusalError extends Error {
  readonly status: Status;

  constructor(status: StatusName) {
    super(status);
    this.name = "RefusalError";
    this.status = statusCode(status);
  }
}

export function statusCode(name: StatusName): Status {
  return proto.ResponseCodeEnum[name];
}

export function statusName(status: Status): StatusName {
  return proto.ResponseCodeEnum[status] as StatusName;
}

/** Throws unless `condition` holds. */
export function ensure(condition: boolean, status: StatusName): asserts condition {
  if (!condition) throw new RefusalError(status);
}

export type Status = proto.ResponseCodeEnum;
export type StatusName = keyof typeof proto.ResponseCodeEnum;
