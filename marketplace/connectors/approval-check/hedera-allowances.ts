import { type Mirror, type MirrorHolding, type Units, unitsOf } from "../hedera/mirror.ts";
import { hbar } from "../hedera/receiver.ts";
import { ConnectorError } from "../result.ts";
import { type Approval, listed } from "./approval.ts";

const pagesMax = 20;
/** Wallets that mean "all of it" grant the largest amount the chain knows; some of it may be spent already. */
const unlimitedFrom = 2n ** 62n;

/**
 * The HBAR, token and NFT allowances (HIP-336, HIP-376) that an account has granted and that are still open, and whether these are
 * all.
 */
export async function readHederaAllowances(mirror: Mirror, wallet: string): Promise<object> {
  const account = await mirror.account(wallet);
  if (!account) throw new ConnectorError("There is no such account on the chain.");
  const list = <Row>(kind: string) =>
    mirror.listed<Row>(`/accounts/${wallet}/allowances/${kind}?limit=100`, "allowances", pagesMax);
  const [crypto, tokens, nfts] = await Promise.all([
    list<Allowance>("crypto"),
    list<Allowance & { token_id: string }>("tokens"),
    list<{ spender: string; token_id: string; approved_for_all?: boolean }>("nfts"),
  ]);
  const held =
    tokens.rows.length === 0
      ? { rows: [], complete: true }
      : await mirror.listed<MirrorHolding>(`/accounts/${wallet}/tokens?limit=100`, "tokens", pagesMax);
  const complete = [crypto, tokens, nfts, held].every((one) => one.complete);
  const balances = new Map<string, bigint>([
    [hbar, unitsOf(account.balance.balance)],
    ...held.rows.map(({ token_id, balance }) => [token_id, unitsOf(balance)] as const),
  ]);
  const amounts = [...crypto.rows.map((row) => ({ ...row, token_id: hbar })), ...tokens.rows]
    // What the wallet holds of it was not read: neither its balance nor its risk would be true.
    .filter(({ token_id: token }) => held.complete || balances.has(token))
    .map(({ spender, token_id: token, amount }) => ({ spender, token, amount: unitsOf(amount) }))
    .filter(({ amount }) => amount > 0n)
    .map(({ spender, token, amount }): Approval => {
      const [balance, unlimited] = [balances.get(token) ?? 0n, amount >= unlimitedFrom];
      return { kind: "fungible", token, spender, amount, unlimited, balance };
    });
  const collections = nfts.rows
    .filter((row) => row.approved_for_all !== false)
    .map(({ spender, token_id: token }): Approval => ({ kind: "nft", token, spender, unlimited: true }));
  return { wallet, complete, ...listed([...amounts, ...collections]) };
}

interface Allowance {
  readonly spender: string;
  readonly amount: Units;
}
