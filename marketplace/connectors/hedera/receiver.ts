import { ConnectorFailure } from "../connector.ts";
import type { Ground } from "./ground.ts";

export const hbar = "hbar";

/**
 * The account id of who receives, given as `0.0.n` or as an EVM address. Throws ConnectorFailure when that account
 * cannot take the asset, so that nothing is sent that the ledger would charge for and refuse.
 */
export async function receiverOf({ hedera, operator, wallet }: Ground, given: string, asset: string): Promise<string> {
  const text = given.trim();
  if (!/^(0\.0\.[1-9]\d{0,9}|0x[0-9a-fA-F]{40})$/.test(text)) {
    throw new ConnectorFailure("The receiver must be an account id such as 0.0.1234, or an EVM address.");
  }
  const account = await hedera.mirror.account(text);
  if (!account || account.deleted) throw new ConnectorFailure("There is no such account on the ledger.");
  const id = account.account;
  if (id === operator.accountId || id === wallet) throw new ConnectorFailure("This account cannot be the receiver.");
  if (account.receiver_sig_required) throw new ConnectorFailure("The receiving account only takes what it signs for.");
  if (asset === hbar) return id;
  const holding = await hedera.mirror.holding(id, asset);
  if (holding?.freeze_status === "FROZEN") throw new ConnectorFailure("The token is frozen for the receiving account.");
  if (holding?.kyc_status === "REVOKED")
    throw new ConnectorFailure("The token asks for a KYC grant that the account lacks.");
  if (!holding && account.max_automatic_token_associations === 0) {
    throw new ConnectorFailure("The receiving account is not associated with the token.");
  }
  return id;
}
