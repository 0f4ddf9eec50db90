import { layOutRest } from "../../../shared/page/islands/lay-out-rest.ts";

/** What every page can do: buttons that only work with JavaScript appear with it. */
for (const button of document.querySelectorAll<HTMLElement>("[data-theme-toggle], [data-copy]")) button.hidden = false;

const root = document.documentElement;
// Kept in the browser and never sent: these pages set no cookie.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  if (target.closest("[data-theme-toggle]")) toggleTheme();
  const copy = target.closest<HTMLElement>("[data-copy]");
  if (copy) void copyFrom(copy);
});

addEventListener("load", () => void layOutRest());

/** Forms whose choices apply at once. */
document.addEventListener("change", ({ target }) => {
  if (target instanceof Element && target.matches("[data-submits]")) target.closest("form")?.requestSubmit();
});

/** "/" goes to the search field of the page, or of the bar. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
  const field = document.querySelector<HTMLElement>("main input[type=search], .bar input[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
});

function toggleTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

const shownMs = 1_500;

/** Copies what the button says, or the text of the element that it names, and shows that it did. */
async function copyFrom(button: HTMLElement): Promise<void> {
  const source = button.dataset.copyOf ? document.getElementById(button.dataset.copyOf) : undefined;
  try {
    await navigator.clipboard.writeText(source ? (source.textContent ?? "") : (button.dataset.copy ?? ""));
  } catch {
    if (source) getSelection()?.selectAllChildren(source);
    return;
  }
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, shownMs);
}
