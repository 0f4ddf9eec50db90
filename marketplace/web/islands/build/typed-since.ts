/** What stood in a form's controls at a moment, by their names. */
export type Values = ReadonlyMap<string, string>;

export function valuesIn(form: HTMLFormElement): Values {
  return new Map(controlsIn(form).map((control) => [nameOf(control), stateOf(control)]));
}

/** The part's controls that a person has changed since. */
export function changedSince(before: Values, part: Element | null): Control[] {
  return controlsIn(part).filter((control) => {
    const value = before.get(nameOf(control));
    return value !== undefined && value !== stateOf(control);
  });
}

/** Writes what stands in `from` into the control of that name and kind in the part, if there is one, and answers it. */
export function takeOver(part: Element, from: Control, name: string): Control | undefined {
  const wanted = nameOf(from, name);
  const here = controlsIn(part).find((control) => nameOf(control) === wanted);
  if (here instanceof HTMLInputElement && from instanceof HTMLInputElement && isChoice(here)) {
    here.checked = from.checked;
  } else if (here) here.value = from.value;
  return here;
}

/** The name of a field's control once `pressed` has moved the fields; undefined where its field was removed. */
export function nameAfter(pressed: string, name: string): string | undefined {
  const [, at, rest] = /^f\.(\d+)(\..+)$/.exec(name) ?? [];
  if (at === undefined) return name;
  const now = rowAfter(pressed, Number(at));
  return now === undefined ? undefined : `f.${now}${rest}`;
}

/** The place of a row once `pressed` has moved the rows; undefined where it was removed. */
export function rowAfter(pressed: string, at: number): number | undefined {
  const [move = "", moved = ""] = pressed.split(".");
  const to = Number(moved);
  if (move === "remove") return at === to ? undefined : at > to ? at - 1 : at;
  if (move !== "up" && move !== "down") return at;
  const beside = move === "up" ? to - 1 : to + 1;
  return at === to ? beside : at === beside ? to : at;
}

export function isControl(element: Element | null): element is Control {
  return element?.matches(":is(input, select, textarea)[name]") === true;
}

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const controlsIn = (part: Element | null) => [
  ...(part?.querySelectorAll<Control>(":is(input, select, textarea)[name]") ?? []),
];
const isChoice = ({ type }: Control) => type === "checkbox" || type === "radio";
const nameOf = (control: Control, name = control.name) => (isChoice(control) ? `${name}=${control.value}` : name);
const stateOf = (control: Control) =>
  control instanceof HTMLInputElement && isChoice(control) ? String(control.checked) : control.value;
