import { rowAfter } from "./typed-since.ts";

/** A press that waits for its post: of a row's button, of another, or a save that none asked for. */
export interface Press {
  readonly name: string;
  /** Where the row is that it is about; undefined for none, and once that is removed. */
  at: number | undefined;
  /** What gets the focus afterwards. */
  readonly focus: string | undefined;
}

/** `up.3`, of the button that stands in a row. */
export function pressOf(value: string, button: Element | null, focus?: string): Press {
  const [name = ""] = value.split(".");
  const row = button?.closest("[data-field-row]");
  return { name, at: row ? rows().indexOf(row) : undefined, focus };
}

/** The button's value as it is posted now; undefined where its row is gone, or has already moved where the button would move it. */
export function postedFor({ name, at }: Press): string | undefined {
  if (name === "add") return "add.0";
  if (!isMove(name)) return name;
  const posted = `${name}.${at}`;
  const button = document.querySelector<HTMLButtonElement>(`#build-fields [value="${posted}"]`);
  return button && !button.disabled ? posted : undefined;
}

/** The rows were drawn anew after a post. */
export function follow(press: Press, posted: string): void {
  if (press.at !== undefined) press.at = rowAfter(posted, press.at);
}

/** Which element gets the focus after rows were moved, added or removed. */
export function focusAfter({ name, focus }: Press, posted: string): string | undefined {
  const at = Number(posted.split(".")[1]);
  const count = rows().length;
  if (name === "add") return `at-fields-${count}-name`;
  if (name === "remove") return count > 1 ? `at-fields-${Math.min(at, count - 2)}-name` : "at-fields";
  if (isMove(name)) return `[value="${name}.${at + (name === "up" ? -1 : 1)}"]`;
  return focus;
}

export function focusOn(place: string): void {
  const found = place.startsWith("[") ? document.querySelector<HTMLElement>(place) : document.getElementById(place);
  const row =
    found instanceof HTMLButtonElement && found.disabled ? found.closest(".field-box")?.querySelector("input") : found;
  row?.focus();
}

const rows = () => [...document.querySelectorAll("[data-field-row]")];
const isMove = (name: string) => name === "remove" || name === "up" || name === "down";
