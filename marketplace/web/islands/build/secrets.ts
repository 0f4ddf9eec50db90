import { swap } from "./parts.ts";
import { changedSince, takeOver, type Values } from "./typed-since.ts";

/** A secret, or the name of a new one. */
export const isSecret = (target: Element) => target.matches("#at-secrets input:not([type=checkbox])");
export const isSecretName = (name: string) => name.startsWith("k.") || /^secret_(name|value)$/.test(name);
/** The box by which a secret is taken away. */
export const isTakingAway = (name: string) => name.startsWith("k-gone.");
export const isWritingSecret = () => document.activeElement !== null && isSecret(document.activeElement);

/** Whether a secret stands there that is not known to be kept. */
export function hasTypedSecret(): boolean {
  return [...document.querySelectorAll<HTMLInputElement>("#at-secrets [type=password]")].some(({ value }) => value);
}

/**
 * Secrets that were posted are kept: their names stand there, and the boxes are empty again, but for what was typed since, and for a
 * new secret that has no good name yet.
 */
export function showSecrets(answer: Document, posted: Values): void {
  const here = document.getElementById("at-secrets");
  if (!here || here.contains(document.activeElement) || changedSince(posted, here).length > 0) return;
  const given = [...here.querySelectorAll("input")].filter((input) =>
    input.type === "checkbox" ? input.checked : input.type === "password" && input.value !== "",
  );
  if (given.length === 0) return;
  const isRefused = isSecretRefused(answer);
  swap(answer, "at-secrets");
  for (const input of given) {
    // A secret that is still there is yet to be taken away.
    const stays = input.type === "checkbox" || (input.name === "secret_value" && isRefused);
    if (stays) takeOver(here, input, input.name);
  }
}

export const isSecretRefused = (answer: Document) => answer.querySelector("#secret-name[aria-invalid]") !== null;
