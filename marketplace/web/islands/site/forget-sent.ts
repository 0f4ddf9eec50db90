import { sentMark } from "../dom/typed-sent.ts";

/** A form was sent, and this page is the answer: what was typed into it is kept no more. Its own page says that none came. */
export function forgetSent(): void {
  try {
    const key = sessionStorage.getItem(sentMark);
    if (key === null || document.querySelector("form[data-typed]")) return;
    for (const one of [key, sentMark]) sessionStorage.removeItem(one);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}
