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
  const [move = "", moved = ""] = pressed.split(".");
  if (at === undefined || moved === "") return name;
  const [from, to] = [Number(at), Number(moved)];
  const beside = move === "up" ? to - 1 : to + 1;
  if (move === "remove") return from === to ? undefined : `f.${from > to ? from - 1 : from}${rest}`;
  if (move !== "up" && move !== "down") return name;
  return `f.${from === to ? beside : from === beside ? to : from}${rest}`;
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
