import type { LiteralValue } from "../../../../shared/page/literals.ts";

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
export type InputValues = Record<string, LiteralValue>;

/** The value of the radio button that is chosen. Reading it as form data would lay out a page that has a text area. */
export function chosenValue(form: HTMLFormElement, name: string): string {
  return form.querySelector<HTMLInputElement>(`input[name="${name}"]:enabled:checked`)?.value ?? "";
}

/** The values of the form's fields, by the names that the agent knows; empty fields are left out. */
export function readInput(form: HTMLFormElement): InputValues {
  const values: InputValues = {};
  for (const control of controlsOf(form)) {
    const { field = "", type } = control.dataset;
    if (control instanceof HTMLInputElement && control.type === "checkbox") values[field] = control.checked;
    else if (control.value === "") continue;
    else if (type === "number" || type === "integer") values[field] = Number(control.value);
    else values[field] = control.value;
  }
  return values;
}

/** Whether the form says the same as these values do. */
export function saysInput(form: HTMLFormElement, values: Readonly<InputValues>): boolean {
  return JSON.stringify(readInput(form)) === JSON.stringify(values);
}

/** Puts values back into the fields, such as those of a payment that is still under way. */
export function writeInput(form: HTMLFormElement, values: Readonly<InputValues>): void {
  for (const control of controlsOf(form)) {
    const { field = "" } = control.dataset;
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value === true;
    else control.value = value === undefined ? "" : String(value);
  }
}

/** Puts the values back that the page came with; a browser fills in a page that is loaded again. */
export function resetInput(form: HTMLFormElement): void {
  for (const control of controlsOf(form)) {
    if (control instanceof HTMLSelectElement) {
      control.selectedIndex = Math.max(
        0,
        [...control.options].findIndex((option) => option.defaultSelected),
      );
    } else if (control instanceof HTMLInputElement && control.type === "checkbox") {
      control.checked = control.defaultChecked;
    } else control.value = control.defaultValue;
  }
}

/** Shows what the server refused beside its field, and goes there; false when there is no such field. */
export function showFieldError(form: HTMLFormElement, field: unknown, problem: string): boolean {
  const control = controlsOf(form).find((one) => one.dataset.field === field);
  const place = control && document.getElementById(`${control.id}-error`);
  if (!control || !place) return false;
  place.replaceChildren(problem);
  place.hidden = false;
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", place.id);
  control.closest("details")?.setAttribute("open", "");
  control.focus();
  return true;
}

export function clearFieldErrors(form: HTMLFormElement): void {
  for (const control of controlsOf(form)) {
    if (!control.hasAttribute("aria-invalid")) continue;
    control.removeAttribute("aria-invalid");
    const place = document.getElementById(`${control.id}-error`);
    if (place) place.hidden = true;
  }
}

function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.querySelectorAll<Control>("[data-field]")];
}
