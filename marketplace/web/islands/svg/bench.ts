import type { Drawing } from "../../../tracer/drawing.ts";
import { notesInWords } from "../../../tracer/notes.ts";
import { writeSvg } from "../../../tracer/output/write-svg.ts";
import { readSvg } from "../../../tracer/sanitize/read-svg.ts";
import { AskFailedError, ask, type Made } from "./ask.ts";
import { type Edits, edited, noEdits } from "./edits.ts";
import { svgBlob } from "./files.ts";
import { base64Of, type Picture, PictureError, readPicture, reducedTo, renderedPixels } from "./picture.ts";
import { drawSettings, inWords, isDrawing, traceOptions, traceSettings } from "./settings.ts";
import { type Traced, TraceRefusedError, type Tracer } from "./tracer.ts";

export type View = "compare" | "result" | "outlines" | "markup";

/** A drawing on the bench, and how it came about. */
export interface Shown {
  readonly isPreview: boolean;
  readonly drawing: Drawing;
  readonly score: number | undefined;
  readonly ms: number | undefined;
  /** Where it is stored, if it is. */
  readonly stored: string | undefined;
  /** Its options in words. */
  readonly label: string;
  readonly fileName: string;
}

export interface State {
  readonly picture: Picture | undefined;
  readonly shown: Shown | undefined;
  /** The drawing with its edits, as the page shows it. */
  readonly url: string | undefined;
  readonly edits: Edits;
  /** Another setting, kept to compare with. */
  readonly kept: { readonly shown: Shown; readonly url: string } | undefined;
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

/** What is to be drawn. */
export interface Order {
  readonly draws: boolean;
  /** As the API names them. */
  readonly settings: object;
  /** What is traced; a drawing from words has none. */
  readonly picture: Picture | undefined;
}

/** What is on the bench, and what can be done with it. */
export class Bench {
  readonly #form: HTMLFormElement;
  readonly #tracer: Tracer;
  readonly #changed: (state: State) => void;
  #state: State = {
    picture: undefined,
    shown: undefined,
    url: undefined,
    edits: noEdits,
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
  /** How often a drawing was shown that is no preview: a preview that was asked for before is shown no more. */
  #traces = 0;
  /** Of the request that got no answer yet. */
  #name: { readonly of: string; readonly name: string } | undefined;

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

  /** Takes the picture and draws a preview; one that is chosen while it is read takes its place. */
  async choose(blob: Blob, name: string): Promise<void> {
    const reading = readPicture(blob, name);
    this.#reading = reading;
    try {
      const picture = await reading;
      if (this.#reading !== reading) return URL.revokeObjectURL(picture.url);
      this.#reading = undefined;
      const { picture: before } = this.#state;
      if (before) URL.revokeObjectURL(before.url);
      this.set({ picture, made: undefined, problem: undefined, note: "Drawing a preview." });
    } catch (error) {
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      if (!(error instanceof PictureError)) throw error;
      return this.set({ problem: { title: "This picture cannot be used.", text: error.message } });
    }
    await this.preview();
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

  /** Has it drawn by the service: for nothing, or for credits. */
  make(pay: "free" | "credits"): Promise<void> {
    return this.order((order) => this.#ask(pay, order));
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

  /** Shows what is made of an order, or why nothing was. */
  async take(order: Order, makes: (order: Order) => Promise<Made>): Promise<void> {
    const { draws, settings, picture } = order;
    this.set({ since: performance.now(), problem: undefined, note: "" });
    // On a narrow screen the drawing is above the form, out of sight.
    if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".canvas-bar")?.scrollIntoView();
    try {
      const made = await makes(order);
      const words = "prompt" in settings ? String(settings.prompt).slice(0, 60) : inWords(settings);
      this.#show({
        isPreview: false,
        drawing: readSvg(made.svg),
        score: made.score,
        ms: made.ms,
        stored: made.url,
        label: words,
        fileName: draws ? "drawing" : baseOf(picture?.name ?? ""),
      });
      this.set({ since: undefined, note: [endOf(made, draws), notesInWords(made)].filter(Boolean).join(" ") });
      if (made.tries_left !== undefined) this.#tellTries(made.tries_left);
    } catch (error) {
      if (!(error instanceof AskFailedError)) throw error;
      this.set({ since: undefined, problem: problemOf(error) });
    }
  }

  async #ask(pay: "free" | "credits", { settings, picture }: Order): Promise<Made> {
    const blob =
      picture && (pay === "free" ? await reducedTo(picture, Number(this.#form.dataset.freePixels)) : picture.blob);
    const body = { ...settings, ...(blob && { image: await base64Of(blob) }) };
    if (pay === "free") return ask("/api/svg/try", body, crypto.randomUUID());
    const path = picture ? "/api/account/svg/vectorize" : "/api/account/svg/generate";
    const max_credits = this.priceOf({ settings, picture });
    const of = JSON.stringify([path, settings, picture?.url]);
    if (this.#name?.of !== of) this.#name = { of, name: crypto.randomUUID() };
    try {
      const made = await ask(path, { ...body, max_credits }, this.#name.name);
      this.#name = undefined;
      return made;
    } catch (error) {
      if (error instanceof AskFailedError && !error.isLost) this.#name = undefined;
      throw error;
    }
  }

  /** As the buttons say. */
  priceOf({ settings, picture }: Pick<Order, "settings" | "picture">): number {
    const { trace, draw, hd } = this.#form.dataset;
    return Number(picture ? trace : "hd" in settings ? hd : draw);
  }

  /** Shows what the service drew last, as it was left. */
  back(): void {
    const { made } = this.#state;
    if (made) this.#show(made.shown, made.edits);
    this.set({ note: "The trace, as you left it." });
  }

  #show(shown: Shown, edits: Edits = noEdits): void {
    if (!shown.isPreview) this.#traces += 1;
    const { view, picture, kept } = this.#state;
    this.set({ shown, edits, layer: undefined, colour: undefined });
    this.#redraw();
    if (view === "compare" && !picture && !kept) this.set({ view: "result" });
  }

  edit(edits: Edits, more: Partial<State> = {}): void {
    this.set({ edits, ...more });
    this.#redraw();
  }

  #redraw(): void {
    const { shown, edits, url } = this.#state;
    if (!shown) return;
    if (url) URL.revokeObjectURL(url);
    this.set({
      url: URL.createObjectURL(svgBlob(edited(shown.drawing, edits))),
      ...(!shown.isPreview && { made: { shown, edits } }),
    });
  }

  /** Puts what is shown aside, to compare the next setting with; or gives that up. */
  keep(): void {
    const { kept, shown, edits } = this.#state;
    if (kept) URL.revokeObjectURL(kept.url);
    this.set({ kept: undefined });
    if (kept || !shown) return;
    const drawing = edited(shown.drawing, edits);
    this.set({ kept: { shown: { ...shown, drawing }, url: URL.createObjectURL(svgBlob(drawing)) }, view: "compare" });
  }

  #tellTries(left: number): void {
    for (const told of this.#form.querySelectorAll("[data-tries]")) told.textContent = `${left} left today`;
  }
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

export const markupOf = ({ shown, edits }: State) => (shown ? writeSvg(edited(shown.drawing, edits)) : "");

function endOf({ ms, cost_usd, tries_left, paid_usdc }: Made, draws: boolean): string {
  const did = `${draws ? "Drawn" : "Traced"} in ${(ms / 1_000).toFixed(1)} s`;
  if (tries_left !== undefined) return `${did}. It was free, and nothing is stored.`;
  if (paid_usdc !== undefined) return `${did} for ${paid_usdc} USDC.`;
  const credits = Math.round((cost_usd ?? 0) * 100);
  return credits === 0 ? `${did}, for nothing.` : `${did} for ${credits === 1 ? "1 credit" : `${credits} credits`}.`;
}

function problemOf({ message, isLost, title, retryAfterSeconds = 0 }: AskFailedError): State["problem"] {
  if (title !== undefined) return { title, text: message };
  if (isLost) return { title: message, text: "Press again: it is drawn and charged once, however often it is asked." };
  const wait = retryAfterSeconds > 0 && retryAfterSeconds < 600 ? ` Try again in ${retryAfterSeconds} s.` : "";
  return { title: "Nothing was drawn, and nothing was charged.", text: message + wait };
}

const baseOf = (name: string) => name.replace(/\.\w+$/, "") || "picture";
