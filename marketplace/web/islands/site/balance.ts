/** Writes the account's present balance into the head of the page; leaves the old one where that cannot be learnt. */
export async function tellBalance(): Promise<void> {
  const shown = document.querySelector(".bar .balance b");
  if (!shown) return;
  const answer = await fetch("/api/account").catch(() => undefined);
  if (!answer?.ok) return;
  const { account } = (await answer.json()) as { account: { credits: number } | null };
  if (account) shown.textContent = account.credits.toLocaleString("en-US");
}
