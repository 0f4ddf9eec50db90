import { type Group, opaqueMin } from "../drawing.ts";
import type { Sample } from "../regions/palette.ts";
import { bandShadow } from "./bands.ts";
import { boxShadow } from "./box.ts";
import { type EvenGround, evenGround } from "./even-ground.ts";
import { sameColour } from "./fades.ts";
import { describeShadow, type Shadow } from "./field.ts";
import type { Lifted } from "./shadow.ts";
import { type SoftPart, softParts } from "./soft-parts.ts";

/**
 * Step 0 where the ground is to be taken away: what fades into it (soft-parts.ts) is lifted off, to be drawn as see-through
 * as it is, beneath a picture with clean edges on a clean ground. In: premultiplied RGBA. Out: as of `liftShadow`; null
 * where the ground is not of one colour or nothing fades into it.
 */
export function liftOffGround(pixels: Uint8Array, width: number, height: number): Lifted | null {
  const ground = evenGround(pixels, width, height);
  const parts = ground ? softParts(pixels, width, height, ground) : [];
  if (!ground || parts.length === 0) return null;
  const above = pixels.slice();
  const on = new Uint8Array(width * height);
  const groups: Group[] = [];
  const shades: Sample[] = [];
  for (const layer of layersOf(parts)) {
    const shadow = describeLayer(layer, parts, ground, width, height);
    const drawn = shadow && (boxShadow(shadow) ?? bandShadow(shadow));
    if (!drawn) continue;
    takeOff({ above, on, pixels, width }, shadow, ground.colour);
    const [r, g, b] = shadow.colour;
    const n = shadow.alpha.reduce((sum, alpha, i) => sum + (shadow.bare[i] * alpha * alpha) / 255 ** 2, 0);
    groups.push(named(drawn, layer[0].solid ? "soft" : "shadow", groups));
    shades.push({ n, r, g, b });
  }
  return groups.length > 0 ? { groups, shades, above, on } : null;
}

function named(group: Group, kind: string, others: readonly Group[]): Group {
  const before = others.filter(({ id }) => id?.startsWith(kind)).length;
  return { ...group, id: before === 0 ? kind : `${kind}-${before + 1}` };
}

/** The parts of each colour together: at most `layersMax` colours, those of the largest parts. */
function layersOf(parts: readonly SoftPart[]): SoftPart[][] {
  const layers: SoftPart[][] = [];
  for (const part of parts.toSorted((a, b) => b.pixels.length - a.pixels.length)) {
    const alike = layers.find(
      ([{ colour, solid }]) =>
        solid === part.solid && colour.every((level, c) => Math.abs(level - part.colour[c]) <= sameColour),
    );
    if (alike) alike.push(part);
    else if (layers.length < layersMax) layers.push([part]);
  }
  return layers;
}

const layersMax = 6;

/** A layer as a field of opacity: there is none on the ground or where others fade, and a smooth guess beneath the rest. */
function describeLayer(
  layer: readonly SoftPart[],
  all: readonly SoftPart[],
  ground: EvenGround,
  width: number,
  height: number,
): Shadow | null {
  const seen = new Uint8Array(width * height * 4).fill(255);
  const members = new Uint8Array(width * height);
  for (let p = 0; p < members.length; p++) if (ground.members[p] === 1) seen[p * 4 + 3] = 0;
  for (const part of all) for (const p of part.pixels) seen[p * 4 + 3] = 0;
  for (const { pixels, alpha } of layer) {
    pixels.forEach((p, i) => {
      members[p] = 1;
      seen[p * 4 + 3] = alpha[i];
    });
  }
  return describeShadow({ colour: layer[0].colour, members }, seen, width, height);
}

/**
 * Leaves the ground where a layer is bare and seen through, and beneath the edges of the things on it. Where the layer is
 * opaque it stays, so that things in it that have the ground's colour are told from the ground.
 */
function takeOff(
  { above, on, pixels, width }: { above: Uint8Array; on: Uint8Array; pixels: Uint8Array; width: number },
  { x: left, y: top, width: w, height: h, colour, alpha, bare }: Shadow,
  ground: EvenGround["colour"],
): void {
  for (let i = 0; i < alpha.length; i++) {
    if (alpha[i] <= 0) continue;
    const column = i % w;
    const row = (i - column) / w;
    const p = (top + row) * width + left + column;
    if (bare[i] === 0) on[p] = 1;
    if (alpha[i] >= opaqueMin) continue;
    const shaded = ground.map((level, c) => level + ((colour[c] - level) * alpha[i]) / 255);
    const covered = bare[i] === 1 ? 0 : coverage(p, shaded, { pixels, bare, column, row, w, h, width });
    for (let c = 0; c < 3; c++) {
      const level = bare[i] === 1 ? ground[c] : pixels[p * 4 + c] + (1 - covered) * (ground[c] - shaded[c]);
      above[p * 4 + c] = Math.max(0, Math.min(255, Math.round(level)));
    }
  }
}

/** How much of a pixel is of what lies on a shadow: how far its colour is on from the shadow's to the clearest one near. */
function coverage(p: number, shaded: readonly number[], near: Near): number {
  const { pixels, bare, column, row, w, h, width } = near;
  const off = (q: number) => Math.hypot(...shaded.map((level, c) => pixels[q * 4 + c] - level));
  let clearest = p;
  let atEdge = false;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      if (column + dx < 0 || column + dx >= w || row + dy < 0 || row + dy >= h) continue;
      if (bare[(row + dy) * w + column + dx] === 1) atEdge = true;
      else if (off(p + dy * width + dx) > off(clearest)) clearest = p + dy * width + dx;
    }
  }
  const most = off(clearest);
  if (!atEdge || most === 0) return 1;
  const along = shaded.reduce(
    (sum, level, c) => sum + (pixels[p * 4 + c] - level) * (pixels[clearest * 4 + c] - level),
    0,
  );
  return Math.max(0, Math.min(1, along / most ** 2));
}

interface Near {
  readonly pixels: Uint8Array;
  readonly bare: Uint8Array;
  readonly column: number;
  readonly row: number;
  readonly w: number;
  readonly h: number;
  readonly width: number;
}

/** How far an edge reaches, px. */
const reach = 2;
