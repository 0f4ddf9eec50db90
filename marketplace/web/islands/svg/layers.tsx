/** @jsxRuntime automatic @jsxImportSource preact */

import { useState } from "preact/hooks";
import { Button } from "../../../../shared/page/button.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { Icon } from "../../../../shared/page/icon.tsx";
import { type Bench, copyMarkup, type State, type Unread } from "./bench.ts";
import { type Layer, layersOf, onlyLayer, sixOf, withColour, withHidden } from "./edits.ts";
import { pdfBlob, pngBlob, save, svgBlob, svgType } from "./files.ts";
import { Thumb } from "./shapes.tsx";

/** What the drawing is made of, to hide, recolour and save. */
export function Side({ bench, state }: { bench: Bench; state: State }) {
  const { shown, unread, layer } = state;
  if (!shown && unread) return <UnreadFiles bench={bench} unread={unread} />;
  if (!shown) {
    return (
      <div class="panel-part">
        <h2>Layers</h2>
        <p class="small dim">Every shape stands in a layer here: to hide, recolour or save on its own.</p>
      </div>
    );
  }
  const layers = layersOf(shown.drawing);
  const open = layers.find(({ index }) => index === layer);
  return (
    <>
      <div class="panel-part">
        <div class="row between layers-head">
          <h2>Layers</h2>
          {state.edits.hidden.size > 0 && (
            <Button
              type="button"
              look="ghost"
              size="small"
              onClick={() => bench.edit({ ...state.edits, hidden: new Set() })}
            >
              Show all
            </Button>
          )}
        </div>
        <ul class="layers">
          {layers.map((one) => (
            <LayerRow layer={one} bench={bench} state={state} />
          ))}
        </ul>
      </div>
      {open && <Colours key={open.index} layer={open} bench={bench} state={state} />}
      <Files bench={bench} state={state} />
    </>
  );
}

interface RowProps {
  readonly layer: Layer;
  readonly bench: Bench;
  readonly state: State;
}

const swatchesShown = 3;
const coloursShown = 24;

function LayerRow({ layer, bench, state }: RowProps) {
  const { index, name, elements, colours } = layer;
  const { shown, edits } = state;
  const group = shown?.drawing.groups[index];
  const isOn = state.layer === index;
  const now = (colour: string) => edits.colours.get(index)?.get(sixOf(colour)) ?? colour;
  const more = colours.length - swatchesShown;
  return (
    <li class={isOn ? "is-on" : undefined}>
      <label class="eye">
        <input
          type="checkbox"
          checked={!edits.hidden.has(index)}
          aria-label={`Show ${name}`}
          onChange={({ currentTarget }) => bench.edit(withHidden(edits, index, !currentTarget.checked))}
        />
        <Icon name="eye" />
        <Icon name="eye-off" />
      </label>
      <span class="thumb">{group && <Thumb group={group} repaint={now} />}</span>
      <button
        class="name"
        type="button"
        aria-expanded={isOn}
        onClick={() => bench.set({ layer: isOn ? undefined : index, colour: colours[0] })}
      >
        {name} <span class="faint num">{figures(elements)}</span>
      </button>
      <span class="swatches">
        {colours.slice(0, swatchesShown).map((colour) => (
          <Swatch colour={now(colour)} name={name} onClick={() => bench.set({ layer: index, colour })} />
        ))}
        {more > 0 && <span class="tiny faint num">+{more}</span>}
      </span>
    </li>
  );
}

function Swatch({ colour, name, isOn = false, onClick }: SwatchProps) {
  return (
    <button
      class="swatch"
      type="button"
      aria-label={`Recolour ${colour} of ${name}`}
      aria-pressed={isOn}
      onClick={onClick}
    >
      <svg viewBox="0 0 1 1" aria-hidden="true">
        <rect width="1" height="1" fill={colour} />
      </svg>
    </button>
  );
}

interface SwatchProps {
  readonly colour: string;
  readonly name: string;
  readonly isOn?: boolean;
  readonly onClick: () => void;
}

function Colours({ layer, bench, state }: RowProps) {
  const { index, name, colours } = layer;
  const [areAllShown, showAll] = useState(false);
  const { edits, shown, colour: chosen = colours[0] } = state;
  const own = edits.colours.get(index);
  const now = (colour: string) => own?.get(colour) ?? colour;
  if (!shown || chosen === undefined) return null;
  const repaint = (to: string) => {
    if (/^#[0-9a-f]{6}$/i.test(to)) bench.edit(withColour(edits, index, chosen, to.toLowerCase()));
  };
  return (
    <div class="panel-part">
      <h2>Colours of {name}</h2>
      <div class="row">
        {colours.slice(0, areAllShown ? undefined : coloursShown).map((colour) => (
          <Swatch colour={now(colour)} name={name} isOn={colour === chosen} onClick={() => bench.set({ colour })} />
        ))}
        {colours.length > coloursShown && !areAllShown && (
          <Button type="button" look="ghost" size="small" onClick={() => showAll(true)}>
            {`${figures(colours.length - coloursShown)} more`}
          </Button>
        )}
      </div>
      <div class="row row-tight">
        <input
          class="well"
          type="color"
          value={now(chosen)}
          aria-label={`New colour of ${name}`}
          onInput={({ currentTarget }) => repaint(currentTarget.value)}
        />
        <span class="affix grow">
          <span>Hex</span>
          <input
            class="input input-sm mono"
            value={now(chosen)}
            maxLength={7}
            aria-label="Colour as hex"
            onInput={({ currentTarget }) => repaint(currentTarget.value)}
          />
        </span>
      </div>
      <Button
        type="button"
        size="small"
        icon="download"
        disabled={shown.isPreview}
        onClick={() => save(svgBlob(onlyLayer(shown.drawing, edits, index)), `${shown.fileName}-${name}.svg`)}
      >
        Save {name}
      </Button>
    </div>
  );
}

/** A preview cannot be saved: it is made of few pixels, and what is worth saving is the trace. */
function Files({ bench, state }: { bench: Bench; state: State }) {
  const { shown, edited } = state;
  if (!shown || !edited) return null;
  const { fileName, isPreview, stored } = shown;
  const { drawing } = edited;
  const times = Math.max(1, Math.round(1_024 / Math.max(drawing.width, drawing.height)));
  return (
    <div class="panel-part">
      <h2>Files</h2>
      <div class="row">
        <FileButton isOff={isPreview} onClick={() => save(svgBlob(drawing), `${fileName}.svg`)}>
          SVG
        </FileButton>
        <FileButton isOff={isPreview} onClick={async () => save(await pngBlob(drawing, times), `${fileName}.png`)}>
          PNG
        </FileButton>
        <FileButton isOff={isPreview} onClick={async () => save(await pdfBlob(drawing), `${fileName}.pdf`)}>
          PDF
        </FileButton>
        <FileButton isOff={isPreview} onClick={() => copyMarkup(bench)}>
          Copy
        </FileButton>
      </div>
      {isPreview && <p class="help">Trace the picture to save it.</p>}
      <Stored url={stored} />
    </div>
  );
}

/** What can be done with a drawing that this page cannot take apart. */
function UnreadFiles({ bench, unread: { svg, stored, fileName } }: { bench: Bench; unread: Unread }) {
  return (
    <div class="panel-part">
      <h2>Files</h2>
      <p class="small dim">
        This page is older than the service and cannot show the drawing’s layers. Save the drawing, then reload the
        page.
      </p>
      <div class="row">
        <FileButton isOff={false} onClick={() => save(new Blob([svg], { type: svgType }), `${fileName}.svg`)}>
          SVG
        </FileButton>
        <FileButton isOff={false} onClick={() => copyMarkup(bench)}>
          Copy
        </FileButton>
        <Button type="button" class="grow" onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
      <Stored url={stored} />
    </div>
  );
}

function Stored({ url }: { url: string | undefined }) {
  if (!url) return null;
  const { pathname } = new URL(url);
  return (
    <p class="row between small">
      <span class="faint">Stored</span>
      <a class="link mono" href={pathname}>
        {pathname.slice(0, 20)}….svg
      </a>
    </p>
  );
}

function FileButton({ isOff, onClick, children }: { isOff: boolean; onClick: () => void; children: string }) {
  return (
    <Button type="button" class="grow" disabled={isOff} onClick={onClick} aria-label={labels[children]}>
      {children}
    </Button>
  );
}

const labels: Readonly<Record<string, string>> = {
  SVG: "Save as SVG",
  PNG: "Save as PNG",
  PDF: "Save as PDF",
  Copy: "Copy the SVG as code",
};
