/** What the page says of how its posts went. */
export function say(text: string): void {
  const line = document.getElementById("build-saved");
  if (line) line.textContent = text;
}

/** What is written is posted again; a button is not pressed for somebody who may have gone on. */
export function notDone(pressed: string, status: number): string {
  const why = status === 429 ? "too many changes in a minute" : "no answer";
  return pressed === "save" || pressed === "type"
    ? `Not saved: ${why}. Trying again.`
    : `Not done: ${why}. Press the button again.`;
}

export const isConflict = () => document.querySelector("#build-notes[data-conflict]") !== null;
