/**
 * The editor of an agent, live: what is typed is saved by the page's own form, and what the server makes of it (checks, the buyer's
 * form, the price, the changes) replaces those parts of the page. What is typed while a save is under way stays.
 */

import { orderByDragging, orderByKeys } from "./build/order.ts";
import { hasTypedSecret, showSecrets, swapIn } from "./build/parts.ts";
import { makeSlotsPressable } from "./build/slots.ts";
import { valuesIn } from "./build/typed-since.ts";

const form = document.getElementById("build");
if (form instanceof HTMLFormElement) edit(form);

const typingPauseMs = 700;
/** An account may save drafts 120 times a minute, from all its tabs. */
const betweenSavesMs = 2_000;
const againAfterMs = 5_000;

function edit(form: HTMLFormElement): void {
  document.querySelector<HTMLElement>("[data-live-badge]")?.removeAttribute("hidden");
  document.querySelector<HTMLElement>("[data-save]")?.setAttribute("hidden", "");
  makeSlotsPressable();
  orderByKeys(form);
  const saves = savesOf(form);
  orderByDragging(form, () => {
    saves.note(true);
    void saves.press("type");
  });
  form.dataset.live = "";

  form.addEventListener("input", ({ target }) => {
    if (!(target instanceof Element) || isBuyersForm(target)) return;
    saves.note(true);
    say("Not saved yet");
    if (target instanceof HTMLSelectElement && /^f\.\d+\.type$/.test(target.name)) void saves.press("type", target.id);
    else if (!isSecret(target)) saves.soon(typingPauseMs);
  });
  // Half a secret is none: a secret and its name are saved when the focus has left them.
  form.addEventListener("focusout", ({ target }) => {
    if (target instanceof Element && isSecret(target) && saves.isDirty()) saves.soon(typingPauseMs);
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const pressed = button instanceof HTMLButtonElement ? button.value : "save";
    if (/^(save|try|add|remove|up|down)(\.|$)/.test(pressed)) {
      event.preventDefault();
      return void saves.press(pressed, focusAfter(pressed, button));
    }
    // These buttons lead to another page. The post names the newest saved state, which a save under way is about to learn.
    const underWay = saves.underWay();
    if (underWay && button) {
      event.preventDefault();
      void underWay.then(() => form.requestSubmit(button));
    }
    saves.note(false);
  });
  addEventListener("beforeunload", (event) => {
    if (saves.isDirty()) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && saves.isDirty() && !isConflict()) void saves.press("save");
  });
}

/** What is typed is saved by one post at a time: each says the state that the one before it made. */
function savesOf(form: HTMLFormElement) {
  let isDirty = false;
  let isTold = false;
  let isSaving = false;
  let timer = 0;
  let lastAt = 0;
  let work: Promise<unknown> = Promise.resolve();

  const soon = (ms: number, pressed = "save") => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void press(pressed), Math.max(ms, lastAt + betweenSavesMs - Date.now()));
  };
  const press = (pressed: string, focus?: string): Promise<unknown> => {
    window.clearTimeout(timer);
    work = work.then(() => postNow(pressed, focus));
    return work;
  };
  const postNow = async (pressed: string, focus: string | undefined): Promise<void> => {
    // Two tabs saved different states: only a button decides which of them stays.
    if (pressed === "save" && isConflict() && isTold) return;
    lastAt = Date.now();
    isDirty = false;
    say(pressed === "try" ? "Running…" : "Saving…");
    isSaving = true;
    const { activeElement: focused } = document;
    const posted = valuesIn(form);
    const { status, page: answer, hadSecrets } = await post(form, pressed);
    isSaving = false;
    if (!answer || status === 429 || status >= 500) {
      isDirty = true;
      say(notDone(pressed, status));
      return soon(againAfterMs, pressed === "type" ? "type" : "save");
    }
    const { activeElement: active } = document;
    if (!swapIn(answer, { pressed, posted, focused, notes: pressed !== "save" || !isConflict() })) {
      isDirty = true;
      return say("Not saved. Reload the page in another tab: what stands here stays.");
    }
    isTold = isConflict();
    if (status < 400 && hadSecrets) showSecrets(answer, posted);
    // What is not saved keeps the page from being left without a question.
    isDirty ||= status >= 400;
    if (isTold) say("Not saved: changed elsewhere");
    else if (status >= 400) say("Not saved");
    else if (isDirty || hasTypedSecret()) say("Not saved yet");
    if (isDirty && status < 400) soon(typingPauseMs);
    makeSlotsPressable();
    // Who has gone on to another control meanwhile stays there.
    if (focus && active === focused) focusOn(focus);
  };
  return {
    press,
    soon,
    isDirty: () => isDirty || hasTypedSecret(),
    underWay: () => (isSaving ? work : undefined),
    /** With `false` the page may be left without a question, and nothing is saved later. */
    note(dirty: boolean) {
      isDirty = dirty;
      if (!dirty) window.clearTimeout(timer);
    },
  };
}

/** The same post as without JavaScript; the browser parses the answer, so that no text becomes markup here. */
function post(form: HTMLFormElement, pressed: string): Promise<Posted> {
  const hadSecrets = pressed !== "save" || !isWritingSecret();
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    // Which of two conflicting states stays is said by a button only.
    if (typeof value !== "string" || name === "over" || (!hadSecrets && isSecretName(name))) continue;
    fields.append(name, value);
  }
  fields.set("do", pressed === "type" ? "save" : pressed);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("content-type", "application/x-www-form-urlencoded");
    request.setRequestHeader("accept", "text/html");
    request.responseType = "document";
    request.timeout = Number(form.dataset.waitMs);
    request.addEventListener("loadend", () => {
      resolve({ status: request.status, page: request.response ?? undefined, hadSecrets });
    });
    request.send(fields.toString());
  });
}

interface Posted {
  readonly status: number;
  readonly page: Document | undefined;
  /** Whether the secrets that stood there were sent. */
  readonly hadSecrets: boolean;
}

const isConflict = () => document.querySelector("#build-notes[data-conflict]") !== null;
const isSecret = (target: Element) => target.matches("#at-secrets input:not([type=checkbox])");
const isSecretName = (name: string) => name.startsWith("k.") || name === "secret_name" || name === "secret_value";
const isWritingSecret = () => document.activeElement !== null && isSecret(document.activeElement);
const isBuyersForm = (target: Element) => target.closest("#build-preview") !== null;

/** What is written is posted again; a button is not pressed for somebody who may have gone on. */
function notDone(pressed: string, status: number): string {
  const why = status === 429 ? "too many changes in a minute" : "no answer";
  return pressed === "save" || pressed === "type"
    ? `Not saved: ${why}. Trying again.`
    : `Not done: ${why}. Press the button again.`;
}

function say(text: string): void {
  const line = document.getElementById("build-saved");
  if (line) line.textContent = text;
}

/** Which element gets the focus after rows were moved, added or removed. */
function focusAfter(pressed: string, button: HTMLElement | null): string | undefined {
  const [move = "", at = ""] = pressed.split(".");
  const count = document.querySelectorAll("[data-field-row]").length;
  if (move === "add") return `at-fields-${count}-name`;
  if (move === "remove") return count > 1 ? `at-fields-${Math.min(Number(at), count - 2)}-name` : "at-fields";
  if (move === "up" || move === "down") return `[value="${move}.${Number(at) + (move === "up" ? -1 : 1)}"]`;
  return button?.id || undefined;
}

function focusOn(place: string): void {
  const found = place.startsWith("[") ? document.querySelector<HTMLElement>(place) : document.getElementById(place);
  const row =
    found instanceof HTMLButtonElement && found.disabled ? found.closest(".field-box")?.querySelector("input") : found;
  row?.focus();
}
