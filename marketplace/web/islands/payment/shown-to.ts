/** Says which account a page was shown to: what it asks for is not charged to another one that signed in meanwhile. */
export function shownTo(account: string | undefined): Record<string, string> {
  return account === undefined ? {} : { "x-account": account };
}
