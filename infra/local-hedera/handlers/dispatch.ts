import type { TransactionKind } from "../hapi/codec.ts";
import type { Handling } from "../pipeline/handling.ts";
import { createTopic, submitMessage } from "./consensus.ts";
import { approveAllowances, createAccount, deleteAccount, updateAccount } from "./crypto.ts";
import {
  associate,
  createToken,
  dissociate,
  freeze,
  grantKyc,
  mint,
  pause,
  revokeKyc,
  unfreeze,
  unpause,
  updateFees,
} from "./token.ts";
import { transfer } from "./transfer.ts";

/** One function per transaction kind. A kind that is not here answers NOT_SUPPORTED, its fee charged. */
export const handlers: Partial<Record<TransactionKind, (handling: Handling) => void>> = {
  cryptoCreateAccount: createAccount,
  cryptoUpdateAccount: updateAccount,
  cryptoDelete: deleteAccount,
  cryptoTransfer: transfer,
  cryptoApproveAllowance: approveAllowances,
  tokenCreation: createToken,
  tokenMint: mint,
  tokenAssociate: associate,
  tokenDissociate: dissociate,
  tokenFreeze: freeze,
  tokenUnfreeze: unfreeze,
  tokenGrantKyc: grantKyc,
  tokenRevokeKyc: revokeKyc,
  tokenPause: pause,
  tokenUnpause: unpause,
  tokenFeeScheduleUpdate: updateFees,
  consensusCreateTopic: createTopic,
  consensusSubmitMessage: submitMessage,
};
