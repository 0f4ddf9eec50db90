/** How the tab names what it keeps to show it again after a reload. It gives way to what is paid for, and to newer results. */
export const shownAgain = { answer: "answer", drawing: "drawing of" } as const;

/** Keeps a text in the tab; where there is no room, in place of what is only shown again. Throws where there is none even so. */
export function storeFirst(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    const names = Object.values(shownAgain);
    for (const other of Object.keys(sessionStorage)) {
      if (names.some((name) => other.startsWith(`${name} `))) sessionStorage.removeItem(other);
    }
    sessionStorage.setItem(key, text);
  }
}
