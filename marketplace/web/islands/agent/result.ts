import { readableJson } from "../../../../shared/page/indented-json.ts";
import { badge, byId, callout, el, hash } from "../dom/elements.ts";

export type Output =
  | { readonly kind: "text"; readonly text: string }
  | { readonly images: readonly string[] }
  | { readonly kind: "json"; readonly data: object }
  | { readonly kind: "receipt"; readonly status: string; readonly transactionId: string };

export interface Answer {
  readonly runId: string;
  readonly output: Output;
  readonly receipt: Readonly<Record<string, unknown>> | null;
  /** What was paid, and whether anything else is due. */
  readonly paid: string;
  readonly ms: number | undefined;
  /** An earlier post bought the result; this page only fetched it. */
  readonly isFoundAgain?: boolean;
  /** The form said something else by the time it came. */
  readonly isOfEarlierInput?: boolean;
}

/** The result as what it is, and the same as JSON. */
export function resultView(
  { runId, output, receipt, paid, ms, isFoundAgain, isOfEarlierInput = false }: Answer,
  heading: "Result" | "Earlier result" = "Result",
): HTMLElement {
  const id = heading === "Result" ? "result-title" : "earlier-title";
  const text = textOf(output);
  // A long result scrolls by itself, by keyboard too, so that what stands below it stays near.
  const long =
    text.length > longFrom
      ? { class: "stack stack-6 result-long", tabindex: "0", role: "group", "aria-label": "What it gave" }
      : undefined;
  const view = el("div", long ?? { class: "stack stack-6" }, viewOf(output), receipt !== null && receiptView(receipt));
  const raw = el(
    "div",
    { class: "code code-wrap" },
    pre(readableJson(receipt ? { output, receipt } : output, indentedMax)),
  );
  raw.hidden = true;
  const head = el(
    "div",
    { class: "card-head" },
    el("h2", { id }, heading),
    badge("ok", "success"),
    ms !== undefined &&
      el("span", { class: "small faint num" }, ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`),
    isFoundAgain === true && badge("ok", "found again, not paid twice"),
    el("div", { class: "row push" }, toggleOf(view, raw), saveButton(output, runId), copyButton(text)),
  );
  const foot = el(
    "div",
    { class: "card-foot between" },
    el("span", { class: "mono small" }, runId),
    el("span", { class: "num" }, paid),
  );
  const body = el("div", { class: "card-body stack" }, isOfEarlierInput && earlierInputSaid(), view, raw);
  return el("section", { class: "card", "aria-labelledby": id, "aria-live": "polite" }, head, body, foot);
}

const earlierInputSaid = () =>
  callout(
    "info",
    "This is what was asked for before",
    "It was paid for, and was not here yet. Press again for what the form says now.",
  );

/** What is nested so deep that its indents make more of it is shown, copied and saved without them. */
const indentedMax = 1_000_000;

/** Characters of about a screen. */
const longFrom = 4_000;

function toggleOf(view: HTMLElement, raw: HTMLElement): HTMLElement {
  const button = (text: string, isOn: boolean, shown: HTMLElement, hidden: HTMLElement) => {
    const made = el("button", { type: "button", "aria-pressed": String(isOn) }, text);
    made.addEventListener("click", () => {
      shown.hidden = false;
      hidden.hidden = true;
      for (const one of made.parentElement?.children ?? []) one.setAttribute("aria-pressed", String(one === made));
    });
    return made;
  };
  const group = { class: "seg seg-sm", role: "group", "aria-label": "Show as" };
  return el("div", group, button("View", true, view, raw), button("JSON", false, raw, view));
}

/** A copy of the page's hidden copy button, which has the icons. */
function copyButton(text: string): HTMLElement {
  const made = byId("copy-pattern")?.querySelector(".copy")?.cloneNode(true) as HTMLElement | undefined;
  if (!made) return el("span");
  made.dataset.copy = text;
  made.hidden = false;
  made.setAttribute("aria-label", "Copy the result");
  return made;
}

/** Saves the result as a file. Pictures are files already. */
function saveButton(output: Output, name: string): HTMLElement | false {
  if ("images" in output) return false;
  const [type, ending] = output.kind === "text" ? ["text/plain", "txt"] : ["application/json", "json"];
  const made = el("button", { type: "button", class: "btn btn-sm" }, "Save");
  made.addEventListener("click", () => {
    const href = URL.createObjectURL(new Blob([textOf(output)], { type }));
    el("a", { href, download: `${name}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  });
  return made;
}

function textOf(output: Output): string {
  if ("images" in output) return output.images.join("\n");
  return output.kind === "text"
    ? output.text
    : readableJson(output.kind === "json" ? output.data : output, indentedMax);
}

function viewOf(output: Output): HTMLElement {
  if ("images" in output) return el("div", { class: "result-images" }, ...output.images.map(imageView));
  switch (output.kind) {
    case "text":
      return el("div", { class: "result-text" }, output.text);
    case "json":
      return el("div", { class: "tree" }, treeOf(output.data, 0, { left: nodesMax }));
    case "receipt":
      return pairs([
        ["Status", output.status],
        ["Transaction", hash(output.transactionId, explorerOf("transactionId", output.transactionId))],
      ]);
  }
}

/** The page's policy shows pictures of this service only; another's is a link. */
function imageView(address: string, at: number): HTMLElement {
  const name = `Image ${at + 1}`;
  const link = el("a", { href: address, rel: "noreferrer", class: "link" });
  const isOwn = URL.canParse(address) && new URL(address).origin === location.origin;
  link.append(isOwn ? el("img", { src: address, alt: name, loading: "lazy" }) : `${name}: ${address}`);
  return link;
}

function receiptView(receipt: Readonly<Record<string, unknown>>): HTMLElement {
  const rows = Object.entries(receipt).map(([name, value]): [string, Node | string] => [name, identified(name, value)]);
  return el("div", { class: "stack stack-2" }, el("h3", {}, "Receipt"), pairs(rows));
}

/** What the explorer has a page of is a link to it. */
function identified(name: string, value: unknown): Node | string {
  const href = typeof value === "string" ? explorerOf(name, value) : null;
  return href === null ? said(value) : el("a", { class: "link mono", href, rel: "noreferrer" }, String(value));
}

const explorerPages: Readonly<Record<string, string>> = {
  transactionId: "transaction",
  topicId: "topic",
  tokenId: "token",
  asset: "token",
  from: "account",
  to: "account",
};

/** The page says where the chain that its agent writes to is looked up. */
function explorerOf(name: string, id: string): string | null {
  const { explorer } = byId("run")?.dataset ?? {};
  const page = explorerPages[name];
  return explorer && page && /^0\.0\.\d+(@[\d.]+)?$/.test(id) ? `${explorer}/${page}/${id}` : null;
}

const said = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

function pairs(rows: ReadonlyArray<readonly [string, Node | string]>): HTMLElement {
  return el("dl", { class: "kv" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

const nodesMax = 2_000;

function treeOf(value: unknown, depth: number, budget: { left: number }): Node {
  budget.left -= 1;
  if (budget.left < 0) return el("span", { class: "faint" }, "…");
  if (typeof value !== "object" || value === null) return leaf(value);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return document.createTextNode(isList ? "[]" : "{}");
  const list = el("ul");
  for (const [name, member] of entries) {
    if (budget.left <= 0) {
      list.append(el("li", { class: "faint" }, "…"));
      break;
    }
    list.append(el("li", {}, el("span", { class: "p" }, `${name}: `), treeOf(member, depth + 1, budget)));
  }
  if (depth === 0) return list;
  const details = el(
    "details",
    {},
    el("summary", {}, isList ? `${entries.length} items` : `${entries.length} fields`),
    list,
  );
  details.open = depth < 3;
  return details;
}

function leaf(value: unknown): HTMLElement {
  if (typeof value === "string") return el("span", { class: "s" }, value);
  return el("span", { class: "n" }, String(value));
}

function pre(text: string): HTMLElement {
  const made = el("pre", {}, el("code", {}, text));
  made.tabIndex = 0;
  return made;
}
