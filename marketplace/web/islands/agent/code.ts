import { type LiteralLanguage, objectLiteral } from "../../../../shared/page/literals.ts";
import { el } from "../dom/elements.ts";
import type { InputValues } from "../dom/fields.ts";
import { ownName } from "./account-here.ts";

/** Writes the input into every program that is shown, as text. */
export function writeIntoCode(values: Readonly<InputValues>): void {
  for (const place of document.querySelectorAll<HTMLElement>("[data-input]")) {
    const { input, indent = "" } = place.dataset;
    const parts = objectLiteral(values, input as LiteralLanguage, indent);
    place.replaceChildren(...parts.map(({ text, isValue }) => (isValue ? el("span", { class: "yours" }, text) : text)));
  }
}

/** Lets the copy button take the program that is shown. */
export function followCode(): void {
  for (const code of document.querySelectorAll<HTMLElement>("[data-code]")) {
    const copy = code.querySelector<HTMLElement>("[data-copy-of]");
    const choices = [...code.querySelectorAll<HTMLInputElement>(".code-langs input")];
    for (const [at, choice] of choices.entries()) {
      choice.addEventListener("change", () => {
        if (copy) copy.dataset.copyOf = `${code.dataset.code}-${at + 1}`;
      });
    }
  }
}

/** The input that was last typed in this tab, for the other pages of the agent and for the next visit. */
export function keepTried(agent: string, values: Readonly<InputValues>): void {
  try {
    sessionStorage.setItem(triedKey(agent), JSON.stringify(values));
  } catch {
    // A picture may be too large for the storage; the programs then show the example.
    forgetTried(agent);
  }
}

/** What a visitor typed before signing in is theirs afterwards. */
export function lastTried(agent: string): InputValues | undefined {
  try {
    const text = sessionStorage.getItem(triedKey(agent)) ?? sessionStorage.getItem(`tried ${agent}`);
    return text === null ? undefined : (JSON.parse(text) as InputValues);
  } catch {
    return undefined;
  }
}

export function forgetTried(agent: string): void {
  try {
    for (const key of [triedKey(agent), `tried ${agent}`]) sessionStorage.removeItem(key);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

const triedKey = (agent: string) => `tried ${ownName(agent)}`;
