/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface StageProps {
  /** Width to height. */
  readonly ratio: number;
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  /** What lies over the left part, if two are compared. */
  readonly left:
    | { readonly url: string; readonly alt: string; readonly tag: string; readonly isPixels: boolean }
    | undefined;
  readonly rightTag: string;
  readonly children: ComponentChildren;
}

export const zoomMin = 1;
export const zoomMax = 16;
const heightMax = 544;
/** Of a line of pixels, so that something of it is seen; its other side is scrolled. */
const sideMin = 8;

/** A picture that is zoomed and moved by pointer, wheel and keyboard, with another over its left part. */
export function Stage({ ratio, zoom, onZoom, left, rightTag, children }: StageProps) {
  const pane = useRef<HTMLDivElement>(null);
  const anchor = useAnchor(pane, zoom);
  const [at, setAt] = useState(50);
  const zoomTo = (next: number, x?: number, y?: number) => {
    const bounded = Math.min(zoomMax, Math.max(zoomMin, next));
    if (bounded === zoom) return;
    anchor(x, y);
    onZoom(bounded);
  };
  const pointers = usePointers({ pane, at, setAt: left && setAt, zoom, zoomTo });
  useWheel(pane, (event) => zoomTo(zoom * 2 ** (-event.deltaY / 200), event.clientX, event.clientY));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { "+": zoom * 1.5, "=": zoom * 1.5, "-": zoom / 1.5, "0": 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    zoomTo(next);
  };
  const least = sideMin * Math.max(1, ratio);
  const width = `calc(max(min(100%, ${heightMax * ratio}px), ${least}px) * ${zoom})`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of form fields it is not
    <div
      class={zoom > 1 ? "canvas canvas-pan is-zoomed" : "canvas canvas-pan"}
      ref={pane}
      role="group"
      aria-label="Picture. Plus and minus zoom, 0 fits it, arrows move it."
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...pointers}
    >
      <div class="ba" style={{ width, aspectRatio: String(ratio), "--at": `${at}%` }}>
        {children}
        {left && (
          <>
            <img
              class={left.isPixels ? "ba-before" : "ba-before is-smooth"}
              src={left.url}
              alt={left.alt}
              draggable={false}
            />
            <span class="ba-line" />
            <span class="ba-tag ba-tag-a">{left.tag}</span>
            <input
              type="range"
              min={0}
              max={100}
              value={at}
              aria-label={`Compare: share of ${left.tag}`}
              onInput={({ currentTarget }) => setAt(Number(currentTarget.value))}
            />
          </>
        )}
        <span class="ba-tag ba-tag-b">{rightTag}</span>
      </div>
    </div>
  );
}

type Pane = { readonly current: HTMLDivElement | null };

/** Keeps what is under the pointer, or in the middle, where it is when the zoom changes. */
function useAnchor(pane: Pane, zoom: number) {
  const kept = useRef<Anchor | undefined>(undefined);
  const zoomShown = useRef(zoom);
  const anchor = (x?: number, y?: number) => {
    kept.current = pane.current ? anchorIn(pane.current, x, y) : undefined;
  };
  // Zoomed from outside: the page shows it as it was before until this is drawn.
  if (zoomShown.current !== zoom && !kept.current) anchor();
  useLayoutEffect(() => {
    zoomShown.current = zoom;
    const element = pane.current;
    const box = element?.querySelector(".ba")?.getBoundingClientRect();
    if (!element || !box || !kept.current) return;
    const { x, y, clientX, clientY } = kept.current;
    element.scrollLeft += box.left + x * box.width - clientX;
    element.scrollTop += box.top + y * box.height - clientY;
    kept.current = undefined;
  }, [zoom]);
  return anchor;
}

/** A point of the picture, as shares of its width and height, and where it is in the window. */
interface Anchor {
  readonly x: number;
  readonly y: number;
  readonly clientX: number;
  readonly clientY: number;
}

function anchorIn(pane: HTMLElement, x?: number, y?: number): Anchor | undefined {
  const around = pane.getBoundingClientRect();
  const box = pane.querySelector(".ba")?.getBoundingClientRect();
  if (!box) return undefined;
  const clientX = x ?? around.left + pane.clientWidth / 2;
  const clientY = y ?? around.top + pane.clientHeight / 2;
  return { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height, clientX, clientY };
}

/** The wheel zooms with Ctrl, as a pinch on a touchpad does; without, it scrolls as everywhere. */
function useWheel(pane: Pane, zoom: (event: WheelEvent) => void): void {
  const newest = useRef(zoom);
  newest.current = zoom;
  useEffect(() => {
    const element = pane.current;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      newest.current(event);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, []);
}

interface Pointing {
  readonly pane: Pane;
  readonly at: number;
  readonly setAt: ((at: number) => void) | undefined;
  readonly zoom: number;
  readonly zoomTo: (zoom: number, x?: number, y?: number) => void;
}

/** One pointer moves the line, or the picture when it is zoomed and the line is not near; two pinch. */
function usePointers({ pane, at, setAt, zoom, zoomTo }: Pointing) {
  const down = useRef(new Map<number, { x: number; y: number }>());
  const drags = useRef<"line" | "picture">("picture");
  const moveLine = (event: PointerEvent) => {
    const box = pane.current?.querySelector(".ba")?.getBoundingClientRect();
    if (box && setAt) setAt(Math.round(Math.min(100, Math.max(0, ((event.clientX - box.left) / box.width) * 100))));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const box = pane.current?.querySelector(".ba")?.getBoundingClientRect();
    const isNear = box && Math.abs(event.clientX - box.left - (at / 100) * box.width) < 24;
    drags.current = setAt && (zoom === 1 || isNear) ? "line" : "picture";
    down.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    pane.current?.setPointerCapture(event.pointerId);
    if (drags.current === "line" && down.current.size === 1) moveLine(event);
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = down.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1];
    down.current.set(event.pointerId, now);
    if (other) {
      const apart = (p: { x: number; y: number }) => Math.hypot(p.x - other.x, p.y - other.y);
      if (apart(before) > 0) zoomTo((zoom * apart(now)) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (drags.current === "line") moveLine(event);
    else pane.current?.scrollBy(before.x - now.x, before.y - now.y);
  };
  const onPointerUp = (event: PointerEvent) => void down.current.delete(event.pointerId);
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp };
}
