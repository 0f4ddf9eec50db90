/** Alt with an arrow key moves the row of the focused control, as the row's buttons do. */
export function orderByKeys(form: HTMLFormElement): void {
  form.addEventListener("keydown", (event) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    const row = rowOf(event.target);
    const move = event.key === "ArrowUp" ? "up" : "down";
    const button = row?.querySelector<HTMLButtonElement>(`[value^="${move}."]`);
    if (!button || button.disabled) return;
    event.preventDefault();
    // A key that is held would send one post after another.
    if (!event.repeat) form.requestSubmit(button);
  });
}

/** A row is dragged by its grip, with a pointer or a finger; Escape puts it back. `moved` is called when the order is another one. */
export function orderByDragging(form: HTMLFormElement, moved: () => void): void {
  form.addEventListener("pointerdown", (event) => {
    const row = event.target instanceof Element && event.target.closest("[data-grip]") && rowOf(event.target);
    if (!row || event.button !== 0) return;
    event.preventDefault();
    drag(row, moved);
  });
}

function drag(row: HTMLElement, moved: () => void): void {
  const before = rowsBeside(row);
  const listening = new AbortController();
  const options = { signal: listening.signal };
  const end = (isKept: boolean) => {
    listening.abort();
    row.classList.remove("is-dragged");
    const isMoved = rowsBeside(row).some((one, at) => one !== before[at]);
    if (!isMoved) return;
    if (!isKept) return row.parentElement?.append(...before);
    rowsBeside(row).forEach(renumber);
    moved();
  };
  row.classList.add("is-dragged");
  // The row that is moved loses a captured pointer: the window hears of it wherever it is.
  addEventListener("pointermove", ({ clientY }) => follow(row, clientY), options);
  addEventListener("pointerup", () => end(true), options);
  addEventListener("pointercancel", () => end(false), options);
  addEventListener("keydown", ({ key }) => key === "Escape" && end(false), options);
}

/** The row goes past each neighbour whose middle the pointer has passed. */
function follow(row: HTMLElement, y: number): void {
  const middleOf = (one: HTMLElement) => one.getBoundingClientRect().top + one.offsetHeight / 2;
  for (let above = rowBefore(row); above && y < middleOf(above); above = rowBefore(row)) above.before(row);
  for (let below = rowAfter(row); below && y > middleOf(below); below = rowAfter(row)) below.after(row);
  row.scrollIntoView({ block: "nearest" });
}

/** The form says the order by the numbers in its controls' names; what else carries a number is drawn anew by the server. */
function renumber(row: HTMLElement, at: number): void {
  for (const control of row.querySelectorAll<HTMLInputElement>("[name^='f.']")) {
    control.name = control.name.replace(/^f\.\d+/, `f.${at}`);
  }
}

const rowBefore = (row: HTMLElement) => rowOf(row.previousElementSibling);
const rowAfter = (row: HTMLElement) => rowOf(row.nextElementSibling);
const rowsBeside = (row: HTMLElement) => [
  ...(row.parentElement?.querySelectorAll<HTMLElement>(":scope > [data-field-row]") ?? []),
];

function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-field-row]") : null;
}
