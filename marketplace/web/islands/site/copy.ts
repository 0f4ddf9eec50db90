const shownMs = 1_500;

/** Copies what the button says, or what is shown of the element that it names, and shows that it did. */
export async function copyFrom(button: HTMLElement): Promise<void> {
  const source = button.dataset.copyOf ? document.getElementById(button.dataset.copyOf) : undefined;
  try {
    // biome-ignore lint/performance/useDomNodeTextContent: of several languages one is shown, and only that is copied
    await navigator.clipboard.writeText(source ? source.innerText : (button.dataset.copy ?? ""));
  } catch {
    if (source) getSelection()?.selectAllChildren(source);
    return;
  }
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, shownMs);
}
