/** What the page says of how its posts went. */
export function say(text: string): void {
  const line = document.getElementById("build-saved");
  if (line) line.textContent = text;
}

/** Text is posted again by itself; a button is not pressed again for a person who may have gone on. */
export function notDone(pressed: string, status: number): string {
  const why = status === 429 ? "too many changes in a minute" : "no answer";
  return pressed === "save" || pressed === "type"
    ? `Not saved: ${why}. Trying again.`
    : `Not done: ${why}. Press the button again.`;
}

/** Where the answer is no editor; two of these are told at length, with what to do. */
export function notTaken(status: number): string {
  if (status === 401) return "Not saved: sign in again.";
  if (status === 404) return "Not saved: this draft is gone.";
  return "Not saved. Reload the page in another tab: what stands here stays.";
}

export function tellWhatToDo(status: number): void {
  document.getElementById("build-signed-out")?.toggleAttribute("hidden", status !== 401);
  document.getElementById("build-gone")?.toggleAttribute("hidden", status !== 404);
}

export const isConflict = () => document.querySelector("#build-notes[data-conflict]") !== null;
