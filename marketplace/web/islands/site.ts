import { layOutRest } from "../../../shared/page/islands/lay-out-rest.ts";
import { tellBalance } from "./site/balance.ts";
import { copyFrom } from "./site/copy.ts";
import { forgetSent } from "./site/forget-sent.ts";
import { forgetUnfetched } from "./site/forget-unfetched.ts";
import { toggleTheme } from "./site/theme.ts";

/** What every page can do: buttons that only work with JavaScript appear with it. */
for (const button of document.querySelectorAll<HTMLElement>("[data-theme-toggle], [data-copy]")) button.hidden = false;

forgetSent();
forgetUnfetched();

/** Copying is what a secret that is shown once asks for first. */
document.querySelector<HTMLElement>(".once-key [data-copy]")?.focus();

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  if (target.closest("[data-theme-toggle]")) toggleTheme();
  const copy = target.closest<HTMLElement>("[data-copy]");
  if (copy) void copyFrom(copy);
  const opens = target.closest<HTMLElement>("[data-dialog]");
  const dialog = opens && document.getElementById(opens.dataset.dialog ?? "");
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
  if (target.closest("[data-close]")) close(target);
});

/** The notice was shown: reloading the page, or sending its address to another person, must not show it again. */
if (document.querySelector("[data-notice]")) {
  const here = new URL(location.href);
  here.searchParams.delete("done");
  history.replaceState(history.state, "", here);
}

/** A form that takes a while says so at once: its button turns, and cannot be pressed twice. */
document.addEventListener("submit", ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || !(target instanceof HTMLFormElement) || !target.dataset.busy) return;
  if (!(submitter instanceof HTMLButtonElement)) return;
  const spinner = document.createElement("span");
  spinner.className = "spin";
  submitter.replaceChildren(spinner, target.dataset.busy);
  submitter.setAttribute("aria-busy", "true");
  // Not while it is being sent: a disabled button is no part of what is sent.
  setTimeout(() => {
    submitter.disabled = true;
  });
});

/** The page that one comes back to is the one that was left, its button turning. */
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  if (document.querySelector("form[data-busy] [aria-busy]")) location.reload();
  else void tellBalance();
});

addEventListener("load", () => void layOutRest());

/** Islands say so when something was bought; they share no code with this, which every page has to itself. */
document.addEventListener("balance-changed", () => void tellBalance());

function close(target: Element): void {
  target.closest("dialog")?.close();
}

/** "/" goes to the search field of the page, or to the page that has one. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector<HTMLElement>("main input[type=search]");
  const link = document.querySelector<HTMLElement>("[data-find]");
  if (!field && !link) return;
  event.preventDefault();
  if (field) field.focus();
  else link?.click();
});
