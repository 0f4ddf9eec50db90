import { type Element, fillColours, type Group, opaqueMin } from "../drawing.ts";
import type { Beneath } from "../regions/background.ts";
import type { Sample } from "../regions/palette.ts";
import { bandShadow } from "./bands.ts";
import { boxElements } from "./box.ts";
import { type BoxFit, fitBox, missedBy, movedOnto } from "./box-fit.ts";
import { findFades, sameColour } from "./fades.ts";
import { describeShadow, type Shadow } from "./field.ts";
import { findGlows } from "./glows.ts";

/**
 * Step 0: lifts the picture off its soft shadow, so that the shadow is drawn whole and by its own means, beneath a picture
 * with clean edges. Areas of one colour plane would cut it into pieces, with steps between them and at its rim.
 *
 * In: premultiplied RGBA. Out: the shadow as gradients (box.ts) or, where it has no plain shape, as bands (bands.ts), and
 * the picture that laid over it gives the source again; null where there is no shadow. The un-blending is Porter & Duff,
 * "Compositing Digital Images" (1984), "over" solved for the upper picture.
 */
export function liftShadow(pixels: Uint8Array, width: number, height: number): Lifted | null {
  const glows = liftGlows(pixels, width, height);
  const shadow = liftFades(glows?.above ?? pixels, width, height);
  if (!glows || !shadow) return glows ?? shadow;
  return { ...shadow, groups: [...shadow.groups, ...glows.groups], shades: [...shadow.shades, ...glows.shades] };
}

/** What stands alone and fades on all sides, each of one gradient. */
function liftGlows(pixels: Uint8Array, width: number, height: number): Lifted | null {
  const glows = findGlows({ pixels, width, height });
  if (glows.length === 0) return null;
  const above = pixels.slice();
  const groups: { id: string; elements: Element[] }[] = [];
  const shades: Sample[] = [];
  for (const { element, members } of glows) {
    let n = 0;
    for (const p of members) {
      n += (pixels[p * 4 + 3] / 255) ** 2;
      above.fill(0, p * 4, p * 4 + 4);
    }
    const { r, g, b } = fillColours(element.fill)[0];
    const alike = shades.findIndex(
      (shade) => Math.max(Math.abs(shade.r - r), Math.abs(shade.g - g), Math.abs(shade.b - b)) <= sameColour,
    );
    if (alike >= 0) {
      groups[alike].elements.push(element);
      shades[alike] = { ...shades[alike], n: shades[alike].n + n };
    } else {
      groups.push({ id: groups.length === 0 ? "glow" : `glow-${groups.length + 1}`, elements: [element] });
      shades.push({ n, r, g, b });
    }
  }
  return { groups, shades, above, on: null };
}

/** Soft shadows and glows of one colour: those of a plain shape each as gradients, the others together as bands. */
function liftFades(pixels: Uint8Array, width: number, height: number): Lifted | null {
  const fades = findFades(pixels, width, height);
  if (!fades) return null;
  const { colour, parts } = fades;
  const describe = (some: readonly (readonly number[])[]) => {
    const members = new Uint8Array(width * height);
    for (const part of some) for (const p of part) members[p] = 1;
    return describeShadow({ colour, members }, pixels, width, height);
  };
  const boxes = boxesAmong(parts.slice(0, boxesMax), describe);
  const others = parts.filter((_, i) => !boxes[i]);
  const rest = others.length > 0 ? describe(others) : null;
  const bands = rest && bandShadow(rest);
  const shadows = boxes.flatMap((box) => box?.shadow ?? []);
  const elements = boxes.flatMap((box) => (box ? boxElements(box.fit, box.shadow) : []));
  const groups: Group[] = elements.length > 0 ? [{ id: "shadow", elements, crisp: true }] : [];
  if (bands) groups.push(elements.length > 0 ? { ...bands, id: "shadow-2" } : bands);
  if (groups.length === 0) return null;
  const above = [...shadows, ...(rest && bands ? [rest] : [])].reduce((left, one) => upper(left, width, one), pixels);
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== above[i]) n += ((pixels[i] - above[i]) / 255) ** 2;
  const { r, g, b } = fillColours(groups[0].elements[0].fill)[0];
  return { groups, shades: groups.map(() => ({ n: n / groups.length, r, g, b })), above, on: null };
}

/** Most shadows that are looked at one by one. */
const boxesMax = 24;

/** The rounded box of each part that is a shadow of one; like shadows are of like boxes. */
function boxesAmong(
  parts: readonly (readonly number[])[],
  describe: (parts: readonly (readonly number[])[]) => Shadow | null,
): ({ shadow: Shadow; fit: BoxFit } | null)[] {
  const known: BoxFit[] = [];
  return parts.map((part) => {
    const shadow = describe([part]);
    const own = shadow && fitBox(shadow);
    if (!own) return null;
    const alike = known
      .map((fit) => movedOnto(fit, own))
      .find((fit) => missedBy(fit, shadow) <= own.fade.off + alikeMax);
    const fit = alike ?? own;
    known.push(fit);
    return { shadow, fit };
  });
}

/** How much more the box of another shadow may miss one by, levels. */
const alikeMax = 0.5;

export interface Lifted extends Beneath {
  /** What was lifted off, each of the shade of the same place; drawn beneath all else. */
  readonly groups: readonly Group[];
  readonly above: Uint8Array;
}

/** The picture without the shadow beneath it. */
function upper(pixels: Uint8Array, width: number, { x, y, width: w, height: h, colour, alpha, bare }: Shadow) {
  const above = new Uint8Array(pixels);
  for (let row = 0, i = 0; row < h; row++) {
    for (let column = 0, p = ((y + row) * width + x) * 4; column < w; column++, i++, p += 4) {
      const shade = alpha[i];
      const seen = pixels[p + 3];
      if (shade <= 0 || seen >= opaqueMin) continue;
      const left = bare[i] === 1 ? 0 : (255 * (seen - shade)) / (255 - shade);
      above[p + 3] = Math.round(left);
      const through = (shade * (1 - left / 255)) / 255;
      for (let c = 0; c < 3; c++) {
        above[p + c] = left < 0.5 ? 0 : Math.max(0, Math.min(left, Math.round(pixels[p + c] - through * colour[c])));
      }
    }
  }
  return above;
}
