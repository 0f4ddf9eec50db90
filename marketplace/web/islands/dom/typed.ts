import { sentMark } from "./typed-sent.ts";

/*
 * What is typed into a form is kept in the tab until it is sent: leaving the page, signing in or a network that fails loses none of it.
 * Neither secrets nor files are kept.
 */

type Entry = readonly [name: string, value: string];

/**
 * Fills in a form as it was left (`data-typed` names it), and keeps what is typed from now on; one that the service filled in
 * (`data-filled`) stays as it is. What an account typed is filled in for that account alone.
 */
export function keepTyped(form: HTMLFormElement): void {
  const keyFor = (owner = "") => `typed ${form.dataset.typed} ${owner}`;
  const key = keyFor(form.querySelector<HTMLInputElement>("input[type=hidden][name=account]")?.value);
  const keep = () => store({ [key]: read(form), [sentMark]: undefined });
  // What a visitor typed before signing in is theirs afterwards.
  const entries = find(key) ?? find(keyFor());
  if ("filled" in form.dataset) keep();
  else if (entries) {
    write(form, entries);
    form.closest("details")?.setAttribute("open", "");
    keep();
  }
  form.addEventListener("input", keep);
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    if (target === form && !defaultPrevented) store({ [key]: read(form), [sentMark]: key });
  });
}

function read(form: HTMLFormElement): Entry[] {
  return controlsOf(form).flatMap((control): Entry[] =>
    isChoice(control) && !control.checked ? [] : [[control.name, control.value]],
  );
}

function write(form: HTMLFormElement, entries: readonly Entry[]): void {
  for (const control of controlsOf(form)) {
    const values = entries.flatMap(([name, value]) => (name === control.name ? [value] : []));
    if (isChoice(control)) control.checked = values.includes(control.value);
    else if (values[0] !== undefined) control.value = values[0];
  }
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function controlsOf(form: HTMLFormElement): Control[] {
  const kept = ":is(input:not([type=hidden], [type=file], [type=password]), textarea, select)[name]";
  return [...form.querySelectorAll<Control>(kept)];
}

function isChoice(control: Control): control is HTMLInputElement {
  return control.type === "checkbox" || control.type === "radio";
}

function find(key: string): readonly Entry[] | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

function store(items: Readonly<Record<string, unknown>>): void {
  try {
    for (const [key, item] of Object.entries(items)) {
      // Where there is no room, what was kept before would be older than what is typed.
      sessionStorage.removeItem(key);
      if (item !== undefined) sessionStorage.setItem(key, typeof item === "string" ? item : JSON.stringify(item));
    }
  } catch {
    // The form stays as it is for as long as its page is open.
  }
}
