const shownMs = 1_500;

/** Copies the button's own text, or the visible text of the element that it names, and shows that it did. */
export async function copyFrom(button: HTMLElement): Promise<void> {
  const { copyOf, copyFrom: address, copy = "" } = button.dataset;
  const source = copyOf ? document.getElementById(copyOf) : undefined;
  try {
    // biome-ignore lint/performance/useDomNodeTextContent: of several languages one is shown, and only that is copied
    await navigator.clipboard.writeText(source ? source.innerText : address ? await textAt(address) : copy);
  } catch {
    if (source) getSelection()?.selectAllChildren(source);
    return;
  }
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, shownMs);
}

async function textAt(address: string): Promise<string> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}.`);
  return answer.text();
}
