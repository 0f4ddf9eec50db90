/** How the browser's storage names a payment that has fetched nothing yet: `unfetched <when it was signed> <what it buys> <its id>`. */
export const unfetchedMark = "unfetched ";

/** Whether this browser keeps any. */
export function hasUnfetched(): boolean {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith(unfetchedMark));
  } catch {
    return false;
  }
}
