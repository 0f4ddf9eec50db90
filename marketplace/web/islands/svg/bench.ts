import { creditsPerDollar } from "../../../answers/amounts.ts";
import type { Drawing } from "../../../tracer/drawing.ts";
import { notesInWords } from "../../../tracer/notes.ts";
import { writeSvg } from "../../../tracer/output/write-svg.ts";
import { readSvg } from "../../../tracer/sanitize/read-svg.ts";
import { AskFailedError, type Made } from "./ask.ts";
import { type Edits, edited, isEdited, noEdits } from "./edits.ts";
import { svgBlob, svgType } from "./files.ts";
import { isDrawing } from "./is-drawing.ts";
import { findDrawing, keepDrawing, type LastDrawing } from "./last-drawing.ts";
import { type Picture, PictureError, readPicture, renderedPixels } from "./picture.ts";
import { drawSettings, inWords, traceOptions, traceSettings } from "./settings.ts";
import { type Traced, TraceRefusedError, type Tracer } from "./tracer.ts";

export type View = "compare" | "result" | "outlines" | "markup";

/** A drawing on the bench, and how it came about. */
export interface Shown {
  readonly isPreview: boolean;
  /** The traced picture; a drawing from words has none. */
  readonly source: Picture | undefined;
  readonly drawing: Drawing;
  readonly score: number | undefined;
  readonly ms: number | undefined;
  /** Where it is stored, if it is. */
  readonly stored: string | undefined;
  /** Its options in words. */
  readonly label: string;
  readonly fileName: string;
}

/** What the service drew last, where the code of this page is too old to read it: it is shown and saved as it came. */
export interface Unread {
  readonly svg: string;
  readonly url: string;
  readonly stored: string | undefined;
  readonly fileName: string;
}

export interface State {
  readonly picture: Picture | undefined;
  readonly shown: Shown | undefined;
  /** Shown where nothing else is. */
  readonly unread: Unread | undefined;
  readonly edits: Edits;
  /** The drawing with its edits, as the page shows it. */
  readonly edited: { readonly drawing: Drawing; readonly url: string; readonly bytes: number } | undefined;
  /** Another setting, kept to compare with. */
  readonly kept: { readonly shown: Shown; readonly url: string; readonly bytes: number } | undefined;
  readonly view: View;
  /** The layer whose colours are open, and which of them. */
  readonly layer: number | undefined;
  readonly colour: string | undefined;
  /** What the service drew last, with its edits: options that are tried afterwards do not lose it. */
  readonly made: { readonly shown: Shown; readonly edits: Edits } | undefined;
  /** When the request under way began, `performance.now()` time. */
  readonly since: number | undefined;
  readonly note: string;
  readonly problem: { readonly title: string; readonly text: string } | undefined;
}

/** A drawing to make. */
export interface Order {
  readonly draws: boolean;
  /** Under the API's names. */
  readonly settings: object;
  /** The picture to trace; a drawing from words has none. */
  readonly picture: Picture | undefined;
}

/** The things on the bench, and the acts on them. */
export class Bench {
  readonly #form: HTMLFormElement;
  readonly #tracer: Tracer;
  readonly #changed: (state: State) => void;
  #state: State = {
    picture: undefined,
    shown: undefined,
    unread: undefined,
    edits: noEdits,
    edited: undefined,
    kept: undefined,
    view: "compare",
    layer: undefined,
    colour: undefined,
    made: undefined,
    since: undefined,
    note: "Previews are traced in this page; nothing is sent until you press the button.",
    problem: undefined,
  };
  /** The picture that was chosen last, while it is read. */
  #reading: Promise<Picture> | undefined;
  /** Pictures that something on the bench may show. */
  #pictures: readonly Picture[] = [];
  /** The picture of the order under way, which its drawing is compared with. */
  #ordered: Picture | undefined;
  /** How often a drawing was shown that is no preview: a preview that was asked for before is shown no more. */
  #traces = 0;

  constructor(form: HTMLFormElement, tracer: Tracer, changed: (state: State) => void) {
    this.#form = form;
    this.#tracer = tracer;
    this.#changed = changed;
  }

  get state(): State {
    return this.#state;
  }

  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    this.#changed(this.#state);
  }

  /** Takes the picture and draws a preview. */
  async choose(blob: Blob, name: string): Promise<void> {
    if (await this.takePicture(blob, name)) await this.preview();
  }

  /** False where it cannot be used, or another one was chosen while it was read. */
  async takePicture(blob: Blob, name: string): Promise<boolean> {
    const reading = readPicture(blob, name);
    this.#reading = reading;
    try {
      const picture = await reading;
      this.#pictures = [...this.#pictures, picture];
      if (this.#reading === reading) this.set({ picture, problem: undefined, note: "Drawing a preview." });
      this.#forgetPictures();
      return this.#reading === reading;
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      const problem = { title: "This picture cannot be used.", text: error.message };
      if (this.#reading === reading) this.set({ problem });
      return false;
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  /** A picture that nothing shows any more needs no address. */
  #forgetPictures(): void {
    const { picture, shown, made } = this.#state;
    const used = [picture, shown?.source, made?.shown.source, this.#ordered];
    for (const one of this.#pictures) if (!used.includes(one)) URL.revokeObjectURL(one.url);
    this.#pictures = this.#pictures.filter((one) => used.includes(one));
  }

  /** Waits for the picture that is being read; false where it cannot be used. */
  async #hasRead(): Promise<boolean> {
    let hasRead = true;
    while (this.#reading) {
      hasRead = await this.#reading.then(
        () => true,
        () => false,
      );
    }
    return hasRead;
  }

  /** Shows at once what the options do, on few pixels. */
  async preview(): Promise<void> {
    const { picture } = this.#state;
    if (!picture || isDrawing(this.#form)) return;
    const settings = traceSettings(this.#form);
    const before = this.#traces;
    const isWanted = () => this.#state.picture === picture && this.#traces === before;
    try {
      const traced = await this.#tracer.trace(picture.small, traceOptions(settings));
      if (!isWanted()) return;
      const { width, height } = picture.small;
      const isWhole = width === picture.width && height === picture.height;
      this.#show({
        isPreview: true,
        source: picture,
        drawing: readSvg(traced.svg),
        score: undefined,
        ms: undefined,
        stored: undefined,
        label: inWords(settings),
        fileName: baseOf(picture.name),
      });
      this.set({
        problem: undefined,
        note: isWhole
          ? "Preview. Trace it to save it."
          : `Preview of ${width} × ${height} px. Trace it for the whole picture.`,
      });
      await this.#scorePreview(picture, traced);
    } catch (error) {
      if (!(error instanceof TraceRefusedError)) throw error;
      if (isWanted()) this.set({ problem: { title: "No preview.", text: error.message } });
    }
  }

  async #scorePreview({ small }: Picture, traced: Traced): Promise<void> {
    const { shown } = this.#state;
    if (!shown) return;
    const image = new Image();
    const url = URL.createObjectURL(svgBlob(shown.drawing));
    image.src = url;
    await image.decode();
    const drawn = await renderedPixels(image, small.width, small.height);
    URL.revokeObjectURL(url);
    const score = await this.#tracer.score(small, traced, drawn);
    if (this.#state.shown === shown) this.set({ shown: { ...shown, score } });
  }

  /** Has what the form says drawn by `makes`: the service, or a payment for it. */
  async order(makes: (order: Order) => Promise<Made>): Promise<void> {
    const hasRead = await this.#hasRead();
    if (!hasRead || this.#state.since !== undefined) return;
    const draws = isDrawing(this.#form);
    const { picture } = this.#state;
    if (!draws && !picture) {
      this.set({ problem: { title: "Choose a picture first.", text: "Drop it, paste it or choose a file." } });
      return;
    }
    const settings = draws ? drawSettings(this.#form) : traceSettings(this.#form);
    if ("prompt" in settings && settings.prompt === "") {
      this.set({ problem: { title: "Say what to draw first.", text: "One sentence is enough." } });
      return;
    }
    await this.take({ draws, settings, picture: draws ? undefined : picture }, makes);
  }

  /** Shows the drawing that an order made, or why there is none. For an order from before, it also says what was ordered. */
  async take(order: Order, makes: (order: Order) => Promise<Made>, isEarlier = false): Promise<void> {
    const { draws, settings, picture } = order;
    this.#ordered = picture;
    this.set({ since: performance.now(), problem: undefined, note: "" });
    // On a narrow screen the drawing is above the form, out of sight.
    if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".canvas-bar")?.scrollIntoView();
    try {
      const made = await makes(order);
      const label = "prompt" in settings ? String(settings.prompt).slice(0, 60) : inWords(settings);
      const last = { made, draws, label, fileName: draws ? "drawing" : baseOf(picture?.name ?? "") };
      this.#showMade(last, picture);
      const earlier = isEarlier && `Asked for before: ${draws ? `“${label}”` : `${last.fileName}, ${label}`}.`;
      const note = [earlier, endOf(made, draws), notesInWords(made)].filter(Boolean).join(" ");
      this.set({ since: undefined, note });
      keepDrawing(this.#form.dataset.account, last);
      if (made.tries_left !== undefined) this.#tellTries(made.tries_left);
    } catch (error) {
      const isTold = error instanceof AskFailedError;
      this.set({ since: undefined, problem: isTold ? problemOf(error) : pageFailed });
      if (!isTold) throw error;
    } finally {
      this.#ordered = undefined;
      this.#forgetPictures();
    }
  }

  #showMade({ made, label, fileName }: LastDrawing, source: Picture | undefined): void {
    this.#forgetUnread();
    const drawing = readIfKnown(made.svg);
    if (!drawing) {
      const url = URL.createObjectURL(new Blob([made.svg], { type: svgType }));
      this.#traces += 1;
      this.set({ unread: { svg: made.svg, url, stored: made.url, fileName }, made: undefined });
      this.#showUnread();
      return;
    }
    this.#show({
      isPreview: false,
      source,
      drawing,
      score: made.score,
      ms: made.ms,
      stored: made.url,
      label,
      fileName,
    });
  }

  #showUnread(): void {
    const { edited: before } = this.#state;
    if (before) URL.revokeObjectURL(before.url);
    this.set({ shown: undefined, edited: undefined, edits: noEdits, layer: undefined, colour: undefined });
  }

  #forgetUnread(): void {
    const { unread } = this.#state;
    if (unread) URL.revokeObjectURL(unread.url);
    this.set({ unread: undefined });
  }

  /** After a reload, what was made last in this tab; false where there is none. */
  showLast(): boolean {
    const last = findDrawing(this.#form.dataset.account);
    if (!last) return false;
    this.#showMade(last, undefined);
    this.set({ note: `${last.draws ? "Drawn" : "Traced"} last in this tab.` });
    return true;
  }

  /** The price on the button for such an order. */
  priceOf({ settings, picture }: Pick<Order, "settings" | "picture">): number {
    const { trace, draw, hd } = this.#form.dataset;
    return Number(picture ? trace : "hd" in settings ? hd : draw);
  }

  /** Shows what the service drew last, as it was left. */
  back(): void {
    const { made } = this.#state;
    if (made) this.#show(made.shown, made.edits);
    else this.#showUnread();
    this.set({ note: "The trace, as you left it." });
  }

  #show(shown: Shown, edits: Edits = noEdits): void {
    if (!shown.isPreview) this.#traces += 1;
    const { view, kept } = this.#state;
    this.set({ shown, edits, layer: undefined, colour: undefined });
    this.#redraw();
    this.#forgetPictures();
    if (view === "compare" && !shown.source && !kept) this.set({ view: "result" });
  }

  edit(edits: Edits, more: Partial<State> = {}): void {
    this.set({ edits, ...more });
    this.#redraw();
  }

  #redraw(): void {
    const { shown, edits, edited: before } = this.#state;
    if (!shown) return;
    if (before) URL.revokeObjectURL(before.url);
    this.set({
      edited: drawn(edited(shown.drawing, edits)),
      ...(!shown.isPreview && { made: { shown, edits } }),
    });
  }

  /** Puts what is shown aside, to compare the next setting with; or gives that up. */
  keep(): void {
    const { kept, shown, edits } = this.#state;
    if (kept) URL.revokeObjectURL(kept.url);
    this.set({ kept: undefined });
    if (kept || !shown) return;
    const { drawing, ...more } = drawn(edited(shown.drawing, edits));
    const score = isEdited(edits) ? undefined : shown.score;
    this.set({ kept: { shown: { ...shown, drawing, score }, ...more }, view: "compare" });
  }

  #tellTries(left: number): void {
    for (const told of this.#form.querySelectorAll("[data-tries]")) told.textContent = `${left} left today`;
  }
}

/** A service that is newer than this page draws what this page cannot read. */
function readIfKnown(svg: string): Drawing | undefined {
  try {
    return readSvg(svg);
  } catch {
    return undefined;
  }
}

function drawn(drawing: Drawing): NonNullable<State["edited"]> {
  const blob = svgBlob(drawing);
  return { drawing, url: URL.createObjectURL(blob), bytes: blob.size };
}

/** Puts the markup on the clipboard. */
export async function copyMarkup(bench: Bench): Promise<void> {
  try {
    await navigator.clipboard.writeText(markupOf(bench.state));
    bench.set({ note: "Copied." });
  } catch {
    bench.set({ note: "The browser does not let pages copy. Markup shows it.", view: "markup" });
  }
}

export const markupOf = ({ edited, unread }: State) => (edited ? writeSvg(edited.drawing) : (unread?.svg ?? ""));

function endOf({ ms, cost_usd, tries_left, paid_usdc }: Made, draws: boolean): string {
  const did = `${draws ? "Drawn" : "Traced"} in ${(ms / 1_000).toFixed(1)} s`;
  if (tries_left !== undefined) return `${did}. It was free, and nothing is stored.`;
  if (paid_usdc !== undefined) return `${did} for ${paid_usdc} USDC.`;
  const credits = Math.round((cost_usd ?? 0) * creditsPerDollar);
  return credits === 0 ? `${did}, for nothing.` : `${did} for ${credits === 1 ? "1 credit" : `${credits} credits`}.`;
}

function problemOf({ message, isLost, title, retryAfterSeconds = 0 }: AskFailedError): State["problem"] {
  if (title !== undefined) return { title, text: message };
  const wait = retryAfterSeconds > 0 && retryAfterSeconds < 600 ? ` Try again in ${retryAfterSeconds} s.` : "";
  if (isLost)
    return { title: message, text: `Press again: it is drawn and charged once, however often it is asked.${wait}` };
  return { title: "Nothing was drawn, and nothing was charged.", text: message + wait };
}

const pageFailed = {
  title: "This page failed.",
  text: "Reload it. What was paid for is not lost: drawings for credits are among your runs, and a payment by wallet is kept in this tab.",
};

const baseOf = (name: string) => name.replace(/\.\w+$/, "") || "picture";
