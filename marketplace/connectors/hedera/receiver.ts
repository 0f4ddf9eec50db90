import { z } from "zod";
import { refuseInput } from "../refusal.ts";
import { entityId, type Preconditions } from "./preconditions.ts";

export const hbar = "hbar";
/** `hbar`, or a token. */
export const assetSetting = z.union(
  [z.literal(hbar), z.string().regex(entityId, { abort: true })],
  `must be ${hbar}, or a token's id such as 0.0.1234`,
);

/**
 * The receiver's account id, given as `0.0.n` or as an EVM address, which `template` was filled with. Throws RefusalError
 * when that account cannot take the asset, so that nothing is sent that the chain would charge for and refuse.
 */
export async function receiverOf(
  { hedera, operator, wallet }: Preconditions,
  given: string,
  asset: string,
  template: string,
): Promise<string> {
  const refuse = (message: string) => refuseInput(template, "invalid_value", message);
  const text = given.trim();
  if (!/^(0\.0\.[1-9]\d{0,9}|0x[0-9a-fA-F]{40})$/.test(text)) {
    const message = "The receiver must be an account id such as 0.0.1234, or an EVM address.";
    throw refuseInput(template, "bad_request", message);
  }
  const account = await hedera.mirror.account(text);
  if (!account || account.deleted) throw refuse("There is no such account on the chain.");
  const id = account.account;
  if (id === operator.accountId || id === wallet) throw refuse("This account cannot be the receiver.");
  if (account.receiver_sig_required) throw refuse("The receiving account only takes what it signs for.");
  if (asset === hbar) return id;
  const problem = await holdingProblem({ hedera }, id, asset, account.max_automatic_token_associations);
  if (problem) throw refuse(problem);
  return id;
}

async function holdingProblem(
  { hedera: { mirror } }: Pick<Preconditions, "hedera">,
  id: string,
  asset: string,
  automaticMax: number,
): Promise<string | undefined> {
  const frozen = "The token is frozen for the receiving account.";
  const needsKyc = "The token asks for a KYC grant that the receiving account lacks.";
  const holding = await mirror.holding(id, asset);
  if (holding) {
    if (holding.freeze_status === "FROZEN") return frozen;
    return holding.kyc_status === "REVOKED" ? needsKyc : undefined;
  }
  const isFull = automaticMax >= 0 && (automaticMax === 0 || (await mirror.automaticAssociations(id)) >= automaticMax);
  if (isFull) return "The receiving account is not associated with the token.";
  const token = await mirror.token(asset);
  if (token?.freeze_key && token.freeze_default) return frozen;
  return token?.kyc_key ? needsKyc : undefined;
}
