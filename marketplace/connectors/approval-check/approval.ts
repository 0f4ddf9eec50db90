/** A right to take something out of a wallet. */
export interface Approval {
  readonly kind: "fungible" | "nft";
  readonly token: string;
  readonly symbol?: string | undefined;
  readonly spender: string;
  /** The only NFT of the collection that it is about. */
  readonly tokenId?: bigint;
  /** Base units; absent for a whole collection. */
  readonly amount?: bigint;
  readonly unlimited: boolean;
  /** What the wallet holds now. */
  readonly balance?: bigint;
  readonly spenderIsContract?: boolean;
}

/** Approvals as they are shown, the riskiest first, with a summary. */
export function listed(approvals: readonly Approval[]): object {
  const rows = approvals
    .map(({ tokenId, amount, balance, spenderIsContract, ...approval }) => ({
      ...approval,
      ...(tokenId === undefined ? {} : { token_id: tokenId.toString() }),
      ...(amount === undefined ? {} : { amount: amount.toString() }),
      ...(balance === undefined ? {} : { balance: balance.toString() }),
      ...(spenderIsContract === undefined ? {} : { spender_is_contract: spenderIsContract }),
      risk: riskOf({ amount, balance, spenderIsContract, ...approval }),
    }))
    .sort((a, b) => order.indexOf(b.risk) - order.indexOf(a.risk) || a.token.localeCompare(b.token));
  const count = (risk: Risk) => rows.filter((row) => row.risk === risk).length;
  return {
    approvals: rows,
    summary: { total: rows.length, high: count("high"), medium: count("medium"), low: count("low") },
  };
}

type Risk = (typeof order)[number];
const order = ["low", "medium", "high"] as const;

/** High when all that is there can go at once; low when there is nothing to take or only a part of it. */
function riskOf({ unlimited, amount = 0n, balance, spenderIsContract }: Shown): Risk {
  if (spenderIsContract === false) return unlimited || amount >= (balance ?? 0n) ? "high" : "medium";
  if (unlimited) return balance === 0n ? "medium" : "high";
  if (balance === undefined || balance === 0n) return "low";
  return amount >= balance ? "medium" : "low";
}

type Shown = Omit<Approval, "amount" | "balance" | "spenderIsContract"> & {
  readonly amount: bigint | undefined;
  readonly balance: bigint | undefined;
  readonly spenderIsContract: boolean | undefined;
};
