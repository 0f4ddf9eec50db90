/**
 * Adds up every payout again in the reader's browser, page after page as the API gives them, and says whether that is what the
 * totals say, which may be older than the rows. Nothing that is shown is taken on trust but the rows, and each of those has its transaction.
 */
const box = document.getElementById("recompute");
const button = box?.querySelector("button");
const said = box?.querySelector("output");
if (box && button && said) {
  box.hidden = false;
  button.addEventListener("click", () => void recompute(box.dataset.proof ?? "", button, said));
}

const pageSize = 500;

interface Total {
  readonly network: string;
  readonly asset: string;
  readonly payouts: number;
  readonly amount: string;
}

interface Payout {
  readonly at: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
}

interface Answer {
  readonly totals: readonly Total[];
  /** When they were added up. */
  readonly totals_at: string;
  readonly counted: number;
  readonly payouts: readonly Payout[];
  readonly cursor: string | null;
}

async function recompute(path: string, button: HTMLButtonElement, said: HTMLOutputElement): Promise<void> {
  button.disabled = true;
  try {
    said.value = await addedUp(path, (text) => {
      said.value = text;
    });
  } catch {
    said.value = "The payouts could not be read. Try again.";
  } finally {
    button.disabled = false;
  }
}

async function addedUp(path: string, tell: (text: string) => void): Promise<string> {
  const first = await read(path, null);
  const sums = new Map<string, { payouts: number; amount: bigint }>();
  let left = first.counted;
  for (let page = first; ; page = await read(path, page.cursor)) {
    const counted = page.payouts.filter(({ at }) => at <= first.totals_at).slice(0, left);
    for (const { network, asset, amount } of counted) {
      const sum = sums.get(`${network} ${asset}`) ?? { payouts: 0, amount: 0n };
      sums.set(`${network} ${asset}`, { payouts: sum.payouts + 1, amount: sum.amount + BigInt(amount) });
    }
    left -= counted.length;
    tell(`${first.counted - left} of ${first.counted} added up`);
    if (left === 0 || page.cursor === null) break;
  }
  return verdict(first, sums);
}

function verdict(
  { totals, totals_at, counted }: Answer,
  sums: ReadonlyMap<string, { payouts: number; amount: bigint }>,
): string {
  const isSame = ({ network, asset, payouts, amount }: Total) => {
    const sum = sums.get(`${network} ${asset}`);
    return sum?.payouts === payouts && sum.amount === BigInt(amount);
  };
  if (totals.every(isSame) && sums.size === totals.length)
    return `Recomputed from ${counted} payouts: the totals are right.`;
  const added = `${totals_at.slice(11, 19)} UTC`;
  return `The rows do not add up to the totals of ${added}. One that was paid before and settled since may be among them: recompute in a minute.`;
}

async function read(path: string, cursor: string | null): Promise<Answer> {
  const query = new URLSearchParams({ limit: String(pageSize), ...(cursor !== null && { cursor }) });
  const response = await fetch(`${path}?${query}`, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`the proof answered ${response.status}`);
  return (await response.json()) as Answer;
}
