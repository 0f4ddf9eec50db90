import { type Control, changedSince, isControl, nameAfter, takeOver, type Values } from "./typed-since.ts";

export interface Swapped {
  readonly pressed: string;
  /** The form's values when it was posted: fields that a person has changed since stay. */
  readonly posted: Values;
  /** What had the focus then. */
  readonly focused: Element | null;
  /** Which element gets it afterwards; where none is named, it stays where it is. */
  readonly focus: string | undefined;
  readonly notes: boolean;
}

/** Puts what the server made of the form in its place; false for an answer that is no editor. */
export function swapIn(answer: Document, asked: Swapped): boolean {
  const saved = answer.getElementById("build");
  if (!saved) return false;
  const parts = ["build-checks", "build-buyers", "build-diff", "build-slots", "build-price", "build-length"];
  if (asked.pressed === "try") parts.push("build-result");
  if (asked.notes) parts.push("build-notes");
  for (const id of parts) swap(answer, id);
  if (redrawsRows(asked.pressed)) swapRows(answer, asked);
  swapBuyersForm(answer, asked);
  swapHead(answer);
  const isText = swapText(answer);
  for (const input of document.querySelectorAll<HTMLInputElement>("[data-revision]")) {
    if (isText || !input.form?.querySelector("#yaml-text")) input.value = saved.dataset.saved ?? input.value;
  }
  return true;
}

/** What the form says is of the state that the answer tells. */
export function takeRevision(answer: Document, form: HTMLFormElement): void {
  const revision = answer.getElementById("build")?.dataset.saved;
  const input = form.querySelector<HTMLInputElement>("[data-revision]");
  if (input && revision !== undefined) input.value = revision;
}

export const redrawsRows = (pressed: string) => /^(add|remove|up|down|type)/.test(pressed);

/** The rows of fields, drawn anew; what was typed in them meanwhile is written into them again, where the field is now. */
function swapRows(answer: Document, { pressed, posted, focused, focus }: Swapped): void {
  const here = document.getElementById("build-fields");
  if (!here) return;
  const typed = changedSince(posted, here);
  const active = document.activeElement;
  const isKept = active !== focused || focus === undefined;
  const goesOn = isKept && here.contains(active) && isControl(active) ? active : undefined;
  swap(answer, "build-fields");
  const again = (control: Control) => {
    const name = nameAfter(pressed, control.name);
    return name === undefined ? undefined : takeOver(here, control, name);
  };
  for (const control of typed) again(control);
  if (!goesOn) return;
  const control = again(goesOn);
  control?.closest("details")?.setAttribute("open", "");
  control?.focus();
}

/** The whole as a text. One that the creator has changed stays, under the state that it was made of: taking it is then a conflict. */
function swapText(answer: Document): boolean {
  const [here, there] = [document, answer].map((page) => page.querySelector<HTMLTextAreaElement>("#yaml-text"));
  if (!here || !there) return true;
  if (here.value !== here.defaultValue) return false;
  here.defaultValue = there.defaultValue;
  here.value = there.defaultValue;
  return true;
}

export function swap(answer: Document, id: string): void {
  const [here, there] = [document.getElementById(id), answer.getElementById(id)];
  if (!here || !there) return;
  for (const name of ["data-conflict"]) {
    if (there.hasAttribute(name)) here.setAttribute(name, "");
    else here.removeAttribute(name);
  }
  here.replaceChildren(...there.childNodes);
}

/** The buyer's form was posted with what stands in it; while the creator fills it in it stays. */
function swapBuyersForm(answer: Document, { pressed, posted }: Swapped): void {
  const here = document.getElementById("build-form");
  const isFilledIn = pressed !== "try" && here?.contains(document.activeElement);
  if (!isFilledIn && changedSince(posted, here).length === 0) swap(answer, "build-form");
}

/** Its buttons stay where the keyboard is. */
function swapHead(answer: Document): void {
  for (const part of ["h1", "p", "#build-saved"]) {
    const [here, there] = [document.querySelector(`#build-head ${part}`), answer.querySelector(`#build-head ${part}`)];
    if (here && there) here.replaceChildren(...there.childNodes);
  }
  const publish = (page: Document) => page.querySelector<HTMLButtonElement>("#build-head [value=publish]");
  const [here, there] = [publish(document), publish(answer)];
  if (here && there) [here.disabled, here.className] = [there.disabled, there.className];
}
