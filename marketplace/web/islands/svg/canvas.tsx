/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { Stats } from "../../../../shared/page/stats.tsx";
import type { Drawing } from "../../../tracer/drawing.ts";
import { readQueue } from "./ask.ts";
import { type Bench, markupOf, type State, type View } from "./bench.ts";
import { colourCount, edited, elementCount, isEdited, nodesOf } from "./edits.ts";
import type { Picture } from "./picture.ts";
import { Outlines } from "./shapes.tsx";
import { Stage, zoomMax } from "./stage.tsx";

const views: ReadonlyArray<{ view: View; label: string }> = [
  { view: "compare", label: "Compare" },
  { view: "result", label: "Result" },
  { view: "outlines", label: "Outlines" },
  { view: "markup", label: "Markup" },
];

/** The picture and its drawing, and figures about them. */
export function Canvas({ bench, state, draws, onChoose, onExample }: CanvasProps) {
  const { shown, problem, since, note, kept } = state;
  const [zoom, setZoom] = useState(1);
  return (
    <>
      {problem && (
        <Callout tone="bad" title={problem.title} role="alert">
          {problem.text}
        </Callout>
      )}
      <section class="card" aria-label="Drawing">
        <div class="canvas-bar">
          <ViewChoice view={state.view} onView={(view) => bench.set({ view })} />
          {shown && (
            <Button
              type="button"
              look="ghost"
              size="small"
              aria-pressed={kept !== undefined}
              onClick={() => bench.keep()}
            >
              {kept ? "Let A go" : "Keep as A"}
            </Button>
          )}
          <div class="row row-tight push">
            <ZoomButton icon="minus" label="Zoom out" onClick={() => setZoom(Math.max(1, zoom / 1.5))} />
            <span class="small num dim zoom-told">{Math.round(zoom * 100)} %</span>
            <ZoomButton icon="plus" label="Zoom in" onClick={() => setZoom(Math.min(zoomMax, zoom * 1.5))} />
            <ZoomButton icon="fit" label="Fit to window" onClick={() => setZoom(1)} />
          </div>
        </div>
        <Shows state={state} waiting={draws ? undefined : state.picture} zoom={zoom} onZoom={setZoom}>
          {draws ? <NoDrawing /> : <NoPicture onChoose={onChoose} onExample={onExample} />}
        </Shows>
        <div class="canvas-note small dim">
          <p class="row row-tight" role="status">
            {since === undefined ? note : <Working since={since} />}
          </p>
          {since === undefined && shown?.isPreview && (state.made ?? state.unread) && (
            <Button type="button" size="small" class="push" onClick={() => bench.back()}>
              Back to the trace
            </Button>
          )}
        </div>
        <Figures state={state} />
      </section>
    </>
  );
}

interface CanvasProps {
  readonly bench: Bench;
  readonly state: State;
  readonly draws: boolean;
  /** Opens the browser's choice of files. */
  readonly onChoose: () => void;
  /** Takes the example picture. */
  readonly onExample: () => void;
}

function ViewChoice({ view, onView }: { view: View; onView: (view: View) => void }) {
  return (
    <div class="seg seg-sm" role="radiogroup" aria-label="View">
      {views.map((choice) => (
        <label>
          <input type="radio" name="view" checked={choice.view === view} onChange={() => onView(choice.view)} />
          {choice.label}
        </label>
      ))}
    </div>
  );
}

function ZoomButton({ icon, label, onClick }: { icon: "minus" | "plus" | "fit"; label: string; onClick: () => void }) {
  return <Button type="button" look="ghost" size="small" icon={icon} aria-label={label} onClick={onClick} />;
}

function Shows({ state, waiting, zoom, onZoom, children }: ShowsProps) {
  const { shown, unread, since, edited: now, kept, view, edits, layer } = state;
  if (view === "markup" && (shown ?? unread)) return <Markup text={markupOf(state)} />;
  if (!shown || !now) {
    const source = waiting && { url: waiting.url, alt: "Source" };
    const made = unread && { url: unread.url, alt: "The drawing" };
    const whole = since === undefined ? (made ?? source) : (source ?? made);
    return <div class="canvas">{whole ? <Whole {...whole} /> : children}</div>;
  }
  const { width, height } = shown.drawing;
  const source = shown.source && { url: shown.source.url, alt: "Source", tag: "Source", isPixels: true };
  const other = kept ? { url: kept.url, alt: "Kept drawing", tag: `A: ${kept.shown.label}`, isPixels: false } : source;
  return (
    <Stage
      ratio={width / height}
      zoom={zoom}
      onZoom={onZoom}
      left={view === "compare" ? other : undefined}
      rightTag={kept ? `B: ${shown.label}` : shown.isPreview ? "Preview" : "SVG"}
    >
      {view === "outlines" ? (
        <Outlines drawing={edited(shown.drawing, { ...edits, hidden: new Set() })} layer={layer} />
      ) : (
        <img src={now.url} alt="The drawing" draggable={false} />
      )}
    </Stage>
  );
}

interface ShowsProps {
  readonly state: State;
  /** A picture whose drawing is not here yet. */
  readonly waiting: Picture | undefined;
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  /** What stands there before there is a picture. */
  readonly children: ComponentChildren;
}

const markupShown = 100_000;

function Markup({ text }: { text: string }) {
  return (
    <div class="code code-wrap code-bare canvas-markup">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{text.length > markupShown ? `${text.slice(0, markupShown)}…` : text}</code>
      </pre>
    </div>
  );
}

function Whole({ url, alt }: { url: string; alt: string }) {
  return (
    <div class="ba">
      <img src={url} alt={alt} />
    </div>
  );
}

function NoDrawing() {
  return (
    <div class="ba ba-empty">
      <Empty icon="draw" title="No drawing yet">
        Say what it shall show. What comes out is curves, in layers.
      </Empty>
    </div>
  );
}

function NoPicture({ onChoose, onExample }: Pick<CanvasProps, "onChoose" | "onExample">) {
  return (
    <div class="ba ba-empty">
      <Empty
        icon="image"
        title="No picture yet"
        action={
          <>
            <Button type="button" look="primary" onClick={onExample}>
              Try an example
            </Button>
            <Button type="button" onClick={onChoose}>
              Choose a picture
            </Button>
          </>
        }
      >
        Drop one anywhere, paste it, or choose a file. A preview follows every option at once.
      </Empty>
    </div>
  );
}

const queueEveryMs = 3_000;

/** How long it has taken so far, and what else waits. */
function Working({ since }: { since: number }) {
  const [seconds, setSeconds] = useState(0);
  const [queue, setQueue] = useState<{ readonly waiting: number; readonly seconds: number }>();
  useEffect(() => {
    const clock = setInterval(() => setSeconds(Math.round((performance.now() - since) / 1_000)), 1_000);
    const look = setInterval(async () => setQueue(await readQueue()), queueEveryMs);
    return () => {
      clearInterval(clock);
      clearInterval(look);
    };
  }, [since]);
  const drawings = queue?.waiting === 1 ? "1 drawing waits" : `${queue?.waiting} drawings wait`;
  return (
    <>
      <span class="spin" />
      <span>
        {queue && queue.waiting > 0
          ? `Drawing. ${drawings}; the next is done in about ${queue.seconds} s.`
          : "Drawing. Pictures take up to 15 seconds, words up to a minute."}
        {seconds > 0 && <span aria-hidden="true"> {seconds} s so far.</span>}
      </span>
    </>
  );
}

function Figures({ state: { shown, edits, edited: now, kept } }: { state: State }) {
  const score = isEdited(edits) ? undefined : shown?.score;
  const kB = (bytes: number) => (bytes / 1_000).toFixed(1);
  const drawing = now?.drawing;
  const before = kept?.shown.drawing;
  const counted = (name: string, count: (drawing: Drawing) => number) => ({
    name,
    value: drawing ? figures(count(drawing)) : "–",
    note: before && `A: ${figures(count(before))}`,
  });
  const keptScore = kept?.shown.score?.toFixed(3);
  return (
    <Stats
      small
      inCard
      stats={[
        { name: "Score", value: score?.toFixed(3) ?? "–", note: keptScore && `A: ${keptScore}` },
        counted("Paths", elementCount),
        counted("Nodes", nodesOf),
        counted("Colours", colourCount),
        {
          name: "Size",
          value: now ? kB(now.bytes) : "–",
          unit: now && "kB",
          note: kept && `A: ${kB(kept.bytes)} kB`,
        },
      ]}
    />
  );
}
