import { redrawsRows, type Swapped, swap, swapIn, takeRevision } from "./parts.ts";
import { fieldsFor, fieldsToTry, type Posted, post } from "./post.ts";
import { focusAfter, focusOn, follow, type Press, postedFor, pressOf } from "./press.ts";
import { hasTypedSecret, isSecretRefused, showSecrets } from "./secrets.ts";
import { makeSlotsPressable } from "./slots.ts";
import { isConflict, notDone, notTaken, say, tellWhatToDo } from "./told.ts";
import { valuesIn } from "./typed-since.ts";

export const typingPauseMs = 700;
/** An account may save drafts 120 times a minute, from all its tabs. */
const betweenSavesMs = 2_000;
const againAfterMs = 5_000;

/** Saves the form by one post at a time: each post names the state that the one before it made. */
export class Saves {
  readonly #form: HTMLFormElement;
  #isDirty = false;
  #isSaving = false;
  #isTrying = false;
  #isLeaving = false;
  /** A type was changed, and the rules of the new one do not stand there yet. */
  #areRowsOld = false;
  #isTold = false;
  #isSignedOut = false;
  #timer = 0;
  #lastAt = 0;
  #work: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Set<Press>();
  #last: Press | undefined;
  /** What was posted last without an answer: it may be saved. */
  #unanswered: URLSearchParams | undefined;

  constructor(form: HTMLFormElement) {
    this.#form = form;
  }

  /** Something was changed that is not saved yet. */
  note(): void {
    this.#isDirty = true;
    this.#isLeaving = false;
  }

  /** The whole form is posted to another page: nothing of it is lost, and nothing is saved beside it. */
  leave(): void {
    this.#isLeaving = true;
    window.clearTimeout(this.#timer);
  }

  soon(ms: number): void {
    window.clearTimeout(this.#timer);
    const wait = Math.max(ms, this.#lastAt + betweenSavesMs - Date.now());
    this.#timer = window.setTimeout(() => this.press("save"), wait);
  }

  /** `isAgain`: it is the second click of a double one, which is meant for the row of the first, wherever that is now. */
  press(value: string, { button = null, focus, isAgain = false }: Pressed = {}): void {
    const press = pressOf(value, button, focus);
    if (isAgain && press.name === this.#last?.name) press.at = this.#last.at;
    if (press.name === "try") {
      if (this.#isTrying) return;
      this.#setTrying(true);
    }
    window.clearTimeout(this.#timer);
    if (press.name !== "save") this.#last = press;
    this.#waiting.add(press);
    this.#work = this.#work.then(() => this.#postNow(press)).finally(() => this.#waiting.delete(press));
  }

  /** Whether something stands there that no post took. */
  hasMore = () => !this.#isLeaving && (this.#isDirty || hasTypedSecret());
  /** Whether leaving the page could lose something. */
  isUnsaved = () => this.hasMore() || (this.#isSaving && !this.#isLeaving);
  isSignedOut = () => this.#isSignedOut;
  /** A try is none: what it runs is saved. */
  underWay = () => (this.#isSaving ? this.#work : undefined);

  async #postNow(press: Press): Promise<void> {
    const pressed = postedFor(press);
    if (pressed === undefined) return this.#goOn();
    // Two tabs saved different states: only a button decides which of them stays.
    if (press.name === "save" && isConflict() && this.#isTold) return;
    this.#lastAt = Date.now();
    this.#isDirty = false;
    this.#isSaving = true;
    this.#areRowsOld ||= press.name === "type";
    say("Saving…");
    const failed = this.#unanswered && (await this.#askAgain(this.#unanswered));
    const { fields, hasSecrets } = fieldsFor(this.#form, press.name);
    fields.set("do", isSave(press) ? "save" : pressed);
    const asked = {
      pressed: !isSave(press) ? pressed : this.#areRowsOld ? "type" : "save",
      focused: document.activeElement,
      focus: focusAfter(press, pressed),
      posted: valuesIn(this.#form),
    };
    const answer = failed ?? (await post(this.#form, fields));
    this.#isSaving = false;
    if (answer.page) this.#unanswered = undefined;
    else if (answer.status !== 429) this.#unanswered ??= fields;
    const isTaken = this.#take(answer, { ...asked, press, hasSecrets });
    if (press.name !== "try") return;
    if (isTaken) void this.#try(fields, asked);
    else this.#setTrying(false);
  }

  /**
   * What was posted without an answer is posted again before anything else, which changes nothing where it was saved: without the name
   * of the state that it made, what was typed since would seem to be of another tab. Answers what failed, if it did; what the service
   * itself fails at is given up for what was typed since.
   */
  async #askAgain(unanswered: URLSearchParams): Promise<Posted | undefined> {
    const answer = await post(this.#form, unanswered);
    if (!answer.page && answer.status < 500) return answer;
    this.#unanswered = undefined;
    if (answer.page && answer.status < 400) takeRevision(answer.page, this.#form);
    return undefined;
  }

  /** Shows what came of a save; whether all that was written is saved. */
  #take({ status, page }: Posted, { press, pressed, posted, focused, focus, hasSecrets }: Asked): boolean {
    if (!page) {
      this.#isDirty = true;
      say(notDone(press.name, status));
      this.soon(againAfterMs);
      return false;
    }
    const { activeElement: active } = document;
    const isTaken = status < 400 && !isSecretRefused(page);
    this.#isSignedOut = status === 401;
    tellWhatToDo(status);
    const hasNotes = press.name !== "save" || !isConflict();
    if (!swapIn(page, { pressed, posted, focused, focus, notes: hasNotes })) {
      this.#isDirty = true;
      say(notTaken(status));
      return false;
    }
    if (redrawsRows(pressed)) this.#followRows(pressed);
    this.#isTold = isConflict();
    if (status < 400 && hasSecrets) showSecrets(page, posted);
    // Unsaved text keeps the page from being left without a question.
    this.#isDirty ||= status >= 400;
    this.#sayState(status);
    if (status < 400) this.#goOn();
    makeSlotsPressable();
    // A person who has gone on to another control meanwhile stays there.
    if (focus && active === focused) focusOn(focus);
    return isTaken;
  }

  /** Runs the saved draft; it may take minutes, and text typed meanwhile is saved beside it. */
  async #try(saved: URLSearchParams, asked: Pick<Asked, "posted" | "focused" | "focus">): Promise<void> {
    const revision = revisionIn(this.#form);
    say("Running…");
    const { status, page } = await post(this.#form, fieldsToTry(saved, revision));
    this.#setTrying(false);
    if (!page) return say(notDone("try", status));
    if (status >= 400) return say(status === 409 ? "Not run: the draft was changed since." : notTaken(status));
    if (revisionIn(this.#form) !== revision) return swap(page, "build-result");
    swapIn(page, { ...asked, pressed: "try", notes: false });
    this.#sayState(status);
    makeSlotsPressable();
  }

  #setTrying(isTrying: boolean): void {
    this.#isTrying = isTrying;
    this.#form.querySelector("[value=try]")?.setAttribute("aria-busy", String(isTrying));
  }

  #followRows(pressed: string): void {
    this.#areRowsOld = false;
    for (const press of new Set([...this.#waiting, this.#last])) if (press) follow(press, pressed);
  }

  #sayState(status: number): void {
    if (this.#isTold) say("Not saved: changed elsewhere");
    else if (status >= 400) say("Not saved");
    else if (this.#isDirty || hasTypedSecret()) say("Not saved yet");
  }

  #goOn(): void {
    if (this.#isDirty) this.soon(typingPauseMs);
  }
}

interface Pressed {
  readonly button?: Element | null;
  readonly focus?: string | undefined;
  readonly isAgain?: boolean;
}

interface Asked extends Omit<Swapped, "notes"> {
  readonly press: Press;
  readonly hasSecrets: boolean;
}

/** What the service is asked to do first; a try follows when that is done. */
const isSave = ({ name }: Press) => name === "save" || name === "type" || name === "try";
const revisionIn = (form: HTMLFormElement) => form.querySelector<HTMLInputElement>("[data-revision]")?.value ?? "";
