/** The keys of results and drawings that a tab keeps to show them again. They give way to what is paid for, and to newer ones. */
const shownAgain = /^(answer|drawing of) /;

/** Keeps a text in the tab; where there is no room, in place of what is only shown again. Throws where there is none even so. */
export function storeFirst(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    for (const other of Object.keys(sessionStorage)) if (shownAgain.test(other)) sessionStorage.removeItem(other);
    sessionStorage.setItem(key, text);
  }
}
