import type { proto } from "@hiero-ledger/proto";

/** The hooks (HIP-1195) a leg of a transfer names. None exists on this ledger, but naming one costs its gas. */
export const hooksOfLeg = (leg: proto.IAccountAmount): proto.IHookCall[] =>
  present(leg.preTxAllowanceHook, leg.prePostTxAllowanceHook);

export const hooksOfMove = (move: proto.INftTransfer): proto.IHookCall[] =>
  present(
    move.preTxSenderAllowanceHook,
    move.prePostTxSenderAllowanceHook,
    move.preTxReceiverAllowanceHook,
    move.prePostTxReceiverAllowanceHook,
  );

const present = (...hooks: (proto.IHookCall | null | undefined)[]): proto.IHookCall[] =>
  hooks.filter((hook) => hook !== null && hook !== undefined);
