import { ConnectorError, type Remedy } from "../result.ts";

/** What a buyer can understand of a transaction's status; the status itself is in the log. */
export function failureOf(status: string, transactionId: string): ConnectorError {
  const [text, remedy] = failures[status] ?? ["The chain refused the transaction.", "later"];
  return new ConnectorError(text, { transactionId, status }, remedy);
}

const failures: Readonly<Record<string, readonly [string, Remedy]>> = {
  AMOUNT_EXCEEDS_ALLOWANCE: ["The creator's allowance does not cover this.", "later"],
  SPENDER_DOES_NOT_HAVE_ALLOWANCE: ["The creator's allowance does not cover this.", "later"],
  INSUFFICIENT_ACCOUNT_BALANCE: ["The creator's wallet does not hold enough.", "later"],
  INSUFFICIENT_TOKEN_BALANCE: ["The creator's wallet does not hold enough.", "later"],
  TOKEN_NOT_ASSOCIATED_TO_ACCOUNT: ["The receiving account is not associated with the token.", "input"],
  NO_REMAINING_AUTOMATIC_ASSOCIATIONS: ["The receiving account is not associated with the token.", "input"],
  ACCOUNT_FROZEN_FOR_TOKEN: ["The token is frozen for one of the accounts.", "input"],
  ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN: ["The token asks for a KYC grant that one of the accounts lacks.", "input"],
  INVALID_ACCOUNT_ID: ["There is no such account on the chain.", "input"],
  ACCOUNT_DELETED: ["The account has been deleted.", "input"],
  TOKEN_IS_PAUSED: ["The token is paused.", "later"],
  TOKEN_WAS_DELETED: ["The token has been deleted.", "later"],
  TOKEN_MAX_SUPPLY_REACHED: ["The token's maximum supply has been reached.", "later"],
  TOKEN_HAS_NO_SUPPLY_KEY: ["The token cannot be minted.", "later"],
  INVALID_TOPIC_ID: ["There is no such topic.", "later"],
  BUSY: ["The chain is busy; try again later.", "again"],
  THROTTLED_AT_CONSENSUS: ["The chain is busy; try again later.", "again"],
  TRANSACTION_EXPIRED: ["The chain did not take the transaction in time.", "again"],
};
