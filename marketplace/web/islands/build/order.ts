/** Alt with an arrow key moves the row of the focused control, as the row's buttons do. */
export function orderByKeys(form: HTMLFormElement): void {
  form.addEventListener("keydown", (event) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    const row = rowOf(event.target);
    const move = event.key === "ArrowUp" ? "up" : "down";
    const button = row?.querySelector<HTMLButtonElement>(`[value^="${move}."]`);
    if (!button || button.disabled) return;
    event.preventDefault();
    form.requestSubmit(button);
  });
}

function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-field-row]") : null;
}
