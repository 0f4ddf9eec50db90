import { proto } from "@hiero-ledger/proto";

/** A ledger status other than SUCCESS, thrown by a check and turned into a precheck code or a receipt. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(status: StatusName) {
    super(status);
    this.name = "Refusal";
    this.status = statusCode(status);
  }
}

export const statusCode = (name: StatusName): Status => proto.ResponseCodeEnum[name];

export const statusName = (status: Status): StatusName => proto.ResponseCodeEnum[status] as StatusName;

/** Throws unless `condition` holds. */
export function ensure(condition: boolean, status: StatusName): asserts condition {
  if (!condition) throw new Refusal(status);
}

export type Status = proto.ResponseCodeEnum;
export type StatusName = keyof typeof proto.ResponseCodeEnum;
