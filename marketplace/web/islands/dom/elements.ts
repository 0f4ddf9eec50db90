type Child = Node | string | false | undefined;

/** An element with attributes and children; texts stay texts. */
export function el<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T | undefined {
  return (document.getElementById(id) as T | null) ?? undefined;
}

/** A state: a word with a mark. */
export function badge(tone: string, text: string, isLive = false): HTMLElement {
  return el("span", { class: `badge badge-${tone}` }, el("span", { class: isLive ? "dot dot-live" : "dot" }), text);
}

/** A note on what happened, whether money moved, and what comes next. */
export function callout(tone: string, title: string, ...said: readonly Child[]): HTMLElement {
  const words = el("div", { class: "grow" }, el("strong", {}, title), ...said);
  return el("div", { class: `callout callout-${tone}`, role: tone === "info" ? "status" : "alert" }, words);
}

/** Cut in its middle where there is no room; copying gives the whole. */
export function hash(value: string, href: string | null): HTMLElement {
  const parts = [
    el("span", { class: "hash-a" }, value.slice(0, -6)),
    el("span", { class: "hash-b" }, value.slice(-6)),
  ] as const;
  const shown = href
    ? el("a", { class: "link hash", href, title: value, rel: "noreferrer" }, ...parts)
    : el("span", { title: value }, ...parts);
  return el("span", { class: "hash hash-short" }, shown);
}
