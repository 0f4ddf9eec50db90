import type { proto } from "@hiero-ledger/proto";

/** The hooks (HIP-1195) a leg of a transfer names. None exists on this chain, but naming one costs its gas. */
export function hooksOfLeg(leg: proto.IAccountAmount): proto.IHookCall[] {
  return present(leg.preTxAllowanceHook, leg.prePostTxAllowanceHook);
}

export function hooksOfNftTransfer(transfer: proto.INftTransfer): proto.IHookCall[] {
  return present(
    transfer.preTxSenderAllowanceHook,
    transfer.prePostTxSenderAllowanceHook,
    transfer.preTxReceiverAllowanceHook,
    transfer.prePostTxReceiverAllowanceHook,
  );
}

const present = (...hooks: (proto.IHookCall | null | undefined)[]): proto.IHookCall[] =>
  hooks.filter((hook) => hook !== null && hook !== undefined);
