interface Asked {
  /** The rows of fields too: they were moved. */
  readonly rows: boolean;
  readonly result: boolean;
  readonly notes: boolean;
}

/** Puts what the server made of the form in its place; false for an answer that is no editor. */
export function swapIn(answer: Document, { rows, result, notes }: Asked): boolean {
  const saved = answer.getElementById("build");
  if (!saved) return false;
  const parts = ["build-checks", "build-buyers", "build-diff", "build-slots", "build-price", "build-length"];
  if (rows) parts.push("build-fields");
  if (result) parts.push("build-result", "build-form");
  if (notes) parts.push("build-notes");
  for (const id of parts) swap(answer, id);
  if (!result) swapBuyersForm(answer);
  swapHead(answer);
  const isText = swapText(answer);
  for (const input of document.querySelectorAll<HTMLInputElement>("[data-revision]")) {
    if (isText || !input.form?.querySelector("#yaml-text")) input.value = saved.dataset.saved ?? input.value;
  }
  return true;
}

/** The whole as a text. One that the creator has changed stays, under the state that it was made of: taking it is then a conflict. */
function swapText(answer: Document): boolean {
  const [here, there] = [document, answer].map((page) => page.querySelector<HTMLTextAreaElement>("#yaml-text"));
  if (!here || !there) return true;
  if (here.value !== here.defaultValue) return false;
  here.defaultValue = there.defaultValue;
  here.value = there.defaultValue;
  return true;
}

function swap(answer: Document, id: string): void {
  const [here, there] = [document.getElementById(id), answer.getElementById(id)];
  if (!here || !there) return;
  for (const name of ["data-conflict"]) {
    if (there.hasAttribute(name)) here.setAttribute(name, "");
    else here.removeAttribute(name);
  }
  here.replaceChildren(...there.childNodes);
}

/** The buyer's form was posted with what stands in it; while the creator fills it in it stays. */
function swapBuyersForm(answer: Document): void {
  const here = document.getElementById("build-form");
  if (!here?.contains(document.activeElement)) swap(answer, "build-form");
}

/** Its buttons stay where the keyboard is. */
function swapHead(answer: Document): void {
  for (const part of ["h1", "p", "#build-saved"]) {
    const [here, there] = [document.querySelector(`#build-head ${part}`), answer.querySelector(`#build-head ${part}`)];
    if (here && there) here.replaceChildren(...there.childNodes);
  }
  const publish = (page: Document) => page.querySelector<HTMLButtonElement>("#build-head [value=publish]");
  const [here, there] = [publish(document), publish(answer)];
  if (here && there) [here.disabled, here.className] = [there.disabled, there.className];
}

/** Secrets that were posted are kept: their names stand there, and the boxes are empty again. */
export function showKeptSecrets(answer: Document): void {
  const here = document.getElementById("at-secrets");
  if (!here || here.contains(document.activeElement)) return;
  const given = [...here.querySelectorAll("input")].filter((input) => {
    return input.type === "checkbox" ? input.checked : input.type === "password" && input.value !== "";
  });
  const isWhole =
    given.every(({ name }) => name !== "secret_value") || here.querySelector<HTMLInputElement>("#secret-name")?.value;
  if (given.length > 0 && isWhole) swap(answer, "at-secrets");
}
