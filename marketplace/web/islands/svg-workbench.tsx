/** @jsxRuntime automatic @jsxImportSource preact */
import { render } from "preact";
import { keepTyped } from "./dom/typed.ts";
import { Bench, type State } from "./svg/bench.ts";
import { Canvas } from "./svg/canvas.tsx";
import { ApiCode } from "./svg/code.tsx";
import { isDrawing } from "./svg/is-drawing.ts";
import { Side } from "./svg/layers.tsx";
import { makeWithCredits, requestUnderWay } from "./svg/make-with-credits.ts";
import { isPaymentUnderWay } from "./svg/paid-products.ts";
import { drawSettings, tellSliders, traceSettings } from "./svg/settings.ts";
import { takePictures } from "./svg/take-pictures.ts";
import { Tracer } from "./svg/tracer.ts";
import { tryForFree } from "./svg/try-for-free.ts";
import { finishUnderWay, type UnderWay } from "./svg/under-way.ts";

/** The workbench: the form stays the page's own; what stands beside it is drawn here. */
const form = document.querySelector<HTMLFormElement>("form[data-bench]");
const out = document.querySelector<HTMLElement>("[data-out]");
// A drawing that the page brought with it stays until something is done.
if (form && out) start(form, out);

function start(form: HTMLFormElement, out: HTMLElement): void {
  keepTyped(form);
  const tracer = new Tracer(out.dataset.worker ?? "");
  const origin = out.dataset.origin ?? location.origin;
  let isMounted = false;
  const show = (state: State) => {
    if (!isMounted) out.replaceChildren();
    isMounted = true;
    render(<Work {...{ bench, state, form, origin, takeExample }} />, out);
    for (const button of out.querySelectorAll<HTMLElement>("[data-copy]")) button.hidden = false;
    tellPicture(form, state);
  };
  const bench = new Bench(form, tracer, show);
  const { takeExample } = takePictures(form, bench);
  const kept = unendedRequest(form);
  // In a task of its own: a slow phone would take no press while it evaluates this, lays out the page, and draws.
  if (kept) setTimeout(() => void finishRequest(form, bench, kept));
  else if (!("drawn" in out.dataset)) setTimeout(() => bench.showLast() || bench.set({}));
  // A field that is not shown could not say what is wrong with it; the service's words are shown instead.
  form.noValidate = true;
  tellSliders(form);
  listen(form, bench);
  offerWallets(form, bench);
}

/** The code that pays by wallet is loaded when the visitor opens that part, or has a payment under way. */
function offerWallets(form: HTMLFormElement, bench: Bench): void {
  const load = () => void import("./svg/pay-by-wallet.ts").then(({ takeWallets }) => takeWallets(form, bench));
  const part = form.querySelector("[data-run=wallet]")?.closest("details");
  if (part?.open || isPaymentUnderWay()) load();
  else part?.addEventListener("toggle", load, { once: true });
}

interface WorkProps {
  readonly bench: Bench;
  readonly state: State;
  readonly form: HTMLFormElement;
  readonly origin: string;
  readonly takeExample: () => Promise<void>;
}

function Work({ bench, state, form, origin, takeExample }: WorkProps) {
  const draws = isDrawing(form);
  return (
    <>
      <div class="stack bench-canvas">
        {/* How a payment by wallet goes; nothing else is drawn in it. */}
        <div id="bench-payment" />
        <Canvas
          bench={bench}
          state={state}
          draws={draws}
          onChoose={() => form.querySelector<HTMLInputElement>('input[name="image"]')?.click()}
          onExample={() => void takeExample()}
        />
        <ApiCode
          origin={origin}
          tool={draws ? "generate" : "vectorize"}
          settings={draws ? drawSettings(form) : traceSettings(form)}
        />
      </div>
      <div class="card">
        <Side bench={bench} state={state} />
      </div>
    </>
  );
}

function listen(form: HTMLFormElement, bench: Bench): void {
  const asked = () => JSON.stringify(traceSettings(form));
  let traced = asked();
  form.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLElement) || target.closest("[data-out]")) return;
    tellSliders(form);
    if (target instanceof HTMLInputElement && target.type === "file") return;
    bench.set({});
    const { shown, picture } = bench.state;
    // A field that is no option of a trace leaves the shown drawing as it is.
    if (traced === asked() && shown?.source === picture) return;
    traced = asked();
    void bench.preview();
  });
  // Enter in a field must do nothing: values take effect by themselves, and a browser would press the first button, which buys.
  form.addEventListener("keypress", (event) => {
    const isField = event.target instanceof HTMLElement && event.target.matches(enteredFields);
    if (event.key === "Enter" && isField) event.preventDefault();
  });
  form.addEventListener("submit", (event) => {
    const { submitter } = event;
    event.preventDefault();
    if (!(submitter instanceof HTMLButtonElement) || submitter.name !== "pay") return;
    if (submitter.value === "credits") return void makeForCredits(form, bench);
    void bench.order((order) => tryForFree(order, Number(form.dataset.freePixels)));
  });
}

/** An order that was placed before and is not here yet comes first, and is shown under its own words, whatever the form says by now. */
async function makeForCredits(form: HTMLFormElement, bench: Bench): Promise<void> {
  const unended = unendedRequest(form, isDrawing(form));
  if (unended) return finishRequest(form, bench, unended);
  await bench.order((order) => makeWithCredits(order, bench.priceOf(order), form.dataset.account ?? ""));
  document.dispatchEvent(new Event("balance-changed"));
}

function unendedRequest(form: HTMLFormElement, draws?: boolean): UnderWay | undefined {
  const { account } = form.dataset;
  return account === undefined ? undefined : requestUnderWay(account, draws);
}

async function finishRequest(form: HTMLFormElement, bench: Bench, request: UnderWay): Promise<void> {
  await finishUnderWay(form, bench, request);
  document.dispatchEvent(new Event("balance-changed"));
}

/** Fields in which Enter would submit the form; in the others it opens something. */
const enteredFields = "input:not([type=file], [type=color]), select";

/** Names the picture in the form, and how to change it. */
function tellPicture(form: HTMLFormElement, { picture, since }: State): void {
  const set = (name: string, text: string) => {
    const element = form.querySelector(`[data-drop-${name}]`);
    if (element && element.textContent !== text) element.textContent = text;
  };
  if (picture) {
    const { name, width, height, blob } = picture;
    set("name", name.length > 28 ? `${name.slice(0, 20)}…${name.slice(-7)}` : name);
    set("about", `${width} × ${height}, ${(blob.size / 1_000).toFixed(1)} kB`);
  }
  for (const button of form.querySelectorAll<HTMLButtonElement>('button[name="pay"], button[data-run]')) {
    button.setAttribute("aria-disabled", String(since !== undefined));
  }
}
