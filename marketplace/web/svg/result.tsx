/** @jsxRuntime automatic @jsxImportSource preact */
import { Callout } from "../../../shared/page/callout.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { figures } from "../../../shared/page/figures.ts";
import type { Stat } from "../../../shared/page/stats.tsx";
import { Stats } from "../../../shared/page/stats.tsx";
import { type Notes, notesInWords } from "../../tracer/notes.ts";
import { checkSvg } from "../../tracer/sanitize/check-svg.ts";

/** What came out, as the page shows it without JavaScript. */
export interface Drawn extends Notes {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
  readonly paths: number;
  readonly colors: number;
  readonly bytes: number;
  readonly score: number;
  readonly ms: number;
  readonly layers: ReadonlyArray<{ readonly id: string; readonly fill: readonly string[] }>;
  /** Stored files by kind; nothing of a free try is. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** Why there is no drawing. */
export interface Problem {
  readonly title: string;
  readonly message: string;
}

/**
 * The two columns beside the form. Where there is JavaScript, its island takes their place, and what it has more has its room
 * already, so that nothing moves.
 */
export function WorkbenchResult({ drawn, problem }: { drawn: Drawn | undefined; problem: Problem | undefined }) {
  return (
    <>
      <div class="stack bench-canvas">
        {problem && (
          <Callout tone="bad" title={problem.title} role="alert">
            {problem.message}
          </Callout>
        )}
        <section class="card" aria-label="Drawing">
          <div class="canvas-bar room" />
          <div class="canvas">{drawn ? <Picture {...drawn} /> : <NoPicture />}</div>
          <div class="canvas-note room" />
          {drawn && <Noted {...drawn} />}
          <Stats small stats={statsOf(drawn)} inCard />
        </section>
        <div class="code room" />
      </div>
      <div class="card">{drawn ? <Files {...drawn} /> : <NoLayers />}</div>
    </>
  );
}

function Noted(drawn: Drawn) {
  const text = notesInWords(drawn);
  return text ? <p class="small dim">{text}</p> : null;
}

function Picture({ svg }: Drawn) {
  // Nothing but shapes and paints of the tracer's own list passes it, so that nothing here can run, load or link.
  checkSvg(svg);
  return <div class="ba ba-whole" role="img" aria-label="The drawing" dangerouslySetInnerHTML={{ __html: svg }} />;
}

function NoPicture() {
  return (
    <div class="ba ba-empty">
      <Empty icon="image" title="No picture yet">
        Choose one, and see it as few, smooth curves.
      </Empty>
    </div>
  );
}

function NoLayers() {
  return (
    <div class="panel-part">
      <h2>Layers</h2>
      <p class="small dim">Every shape stands in a layer here: to hide, recolour or save on its own.</p>
    </div>
  );
}

function Files({ svg, layers, files = {} }: Drawn) {
  return (
    <>
      <div class="panel-part">
        <h2>Layers</h2>
        <ul class="small stack stack-1">
          {layers.map(({ id, fill }) => (
            <li>
              {id} <span class="faint num">{fill.length === 1 ? "1 colour" : `${fill.length} colours`}</span>
            </li>
          ))}
        </ul>
      </div>
      <div class="panel-part">
        <h2>Files</h2>
        <label class="small dim" for="markup">
          The SVG: copy it into a file
        </label>
        <textarea class="area mono small" id="markup" rows={6} readOnly>
          {svg}
        </textarea>
        <div class="row">
          {Object.entries(files).map(([kind, url]) => (
            <a class="btn grow" href={url} download>
              {kind.toUpperCase()}
            </a>
          ))}
        </div>
      </div>
    </>
  );
}

function statsOf(drawn: Drawn | undefined): Stat[] {
  const shown = (value: string | undefined) => value ?? "–";
  return [
    { name: "Score", value: shown(drawn?.score.toFixed(3)) },
    { name: "Paths", value: shown(drawn && figures(drawn.paths)) },
    { name: "Colours", value: shown(drawn && figures(drawn.colors)) },
    { name: "Size", value: shown(drawn && (drawn.bytes / 1_000).toFixed(1)), unit: drawn && "kB" },
    { name: "Took", value: shown(drawn && (drawn.ms / 1_000).toFixed(1)), unit: drawn && "s" },
  ];
}
