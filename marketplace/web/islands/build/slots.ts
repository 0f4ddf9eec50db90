let lastTemplate: HTMLTextAreaElement | HTMLInputElement | undefined;

document.addEventListener("focusin", ({ target }) => {
  const isText = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
  if (isText && target.dataset.template !== undefined) lastTemplate = target;
});

/** Makes each slot a button that writes it into the template that had the focus last. */
export function makeSlotsPressable(): void {
  for (const slot of document.querySelectorAll<HTMLElement>("code[data-slot]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = slot.className;
    button.dataset.slot = slot.dataset.slot ?? "";
    button.textContent = slot.textContent;
    button.setAttribute("aria-label", `Write the slot ${slot.dataset.slot}`);
    button.addEventListener("click", () => write(button.textContent ?? ""));
    slot.replaceWith(button);
  }
}

function write(text: string): void {
  const into = lastTemplate?.isConnected
    ? lastTemplate
    : document.querySelector<HTMLTextAreaElement>("[data-template]");
  if (!into) return;
  into.setRangeText(text, into.selectionStart ?? into.value.length, into.selectionEnd ?? into.value.length, "end");
  into.dispatchEvent(new Event("input", { bubbles: true }));
  into.focus();
}
