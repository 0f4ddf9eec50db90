/**
 * The editor of an agent, live: the page's own form saves what is typed, and the server's answer (checks, the buyer's form, the
 * price, the changes) replaces those parts of the page. Text typed while a save is under way stays.
 */

import { orderByDragging, orderByKeys } from "./build/order.ts";
import { Saves, typingPauseMs } from "./build/saves.ts";
import { isSecret, isTakingAway } from "./build/secrets.ts";
import { makeSlotsPressable } from "./build/slots.ts";
import { isConflict, say } from "./build/told.ts";

const form = document.getElementById("build");
if (form instanceof HTMLFormElement) edit(form);

function edit(form: HTMLFormElement): void {
  document.querySelector<HTMLElement>("[data-live-badge]")?.removeAttribute("hidden");
  makeSlotsPressable();
  orderByKeys(form);
  const saves = new Saves(form);
  orderByDragging(form, () => {
    saves.note();
    saves.press("type");
  });
  form.dataset.live = "";
  saveWhatIsTyped(form, saves);
  postWhatIsPressed(form, saves);
  addEventListener("beforeunload", (event) => {
    if (saves.isUnsaved()) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    // A save under way may not hold the last changes; a person who comes back may have signed in again elsewhere.
    const isDue = document.visibilityState === "hidden" ? saves.hasMore() : saves.isSignedOut();
    if (isDue && !isConflict()) saves.press("save");
  });
}

function saveWhatIsTyped(form: HTMLFormElement, saves: Saves): void {
  form.addEventListener("input", ({ target }) => {
    if (!(target instanceof Element) || target.closest("#build-preview")) return;
    if (target instanceof HTMLInputElement && isTakingAway(target.name)) return;
    saves.note();
    say("Not saved yet");
    if (target instanceof HTMLSelectElement && /^f\.\d+\.type$/.test(target.name)) {
      saves.press("type", { focus: target.id });
    } else if (!isSecret(target)) saves.soon(typingPauseMs);
  });
  // Half a secret is none: a secret and its name are saved when the focus has left them.
  form.addEventListener("focusout", ({ target }) => {
    if (target instanceof Element && isSecret(target) && saves.hasMore()) saves.soon(typingPauseMs);
  });
}

function postWhatIsPressed(form: HTMLFormElement, saves: Saves): void {
  let isAgain = false;
  form.addEventListener("click", ({ target, detail }) => {
    isAgain = detail > 1 && target instanceof Element && target.closest("button[name=do]") !== null;
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const pressed = button instanceof HTMLButtonElement ? button.value : "save";
    if (/^(save|try|add|remove|up|down)(\.|$)/.test(pressed)) {
      event.preventDefault();
      saves.press(pressed, { button, focus: button?.id || undefined, isAgain });
      isAgain = false;
      return;
    }
    // These buttons lead to another page. The post names the newest saved state, which a save under way is about to learn.
    const underWay = saves.underWay();
    if (!underWay || !button) return saves.leave();
    event.preventDefault();
    void underWay.then(() => form.requestSubmit(button));
  });
}
