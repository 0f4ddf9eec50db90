import { fillColours, type Group, opaqueMin } from "../drawing.ts";
import type { Beneath } from "../regions/background.ts";
import { bandShadow } from "./bands.ts";
import { boxShadow } from "./box.ts";
import { findFades } from "./fades.ts";
import { describeShadow, type Shadow } from "./field.ts";

/**
 * Step 0: lifts the picture off its soft shadow, so that the shadow is drawn whole and by its own means, beneath a picture
 * with clean edges. Areas of one colour plane would cut it into pieces, with steps between them and at its rim.
 *
 * In: premultiplied RGBA. Out: the shadow as gradients (box.ts) or, where it has no plain shape, as bands (bands.ts), and
 * the picture that laid over it gives the source again; null where there is no shadow. The un-blending is Porter & Duff,
 * "Compositing Digital Images" (1984), "over" solved for the upper picture.
 */
export function liftShadow(pixels: Uint8Array, width: number, height: number): Lifted | null {
  const fades = findFades(pixels, width, height);
  const shadow = fades && describeShadow(fades, pixels, width, height);
  const drawn = shadow && (boxShadow(shadow) ?? bandShadow(shadow));
  if (!drawn) return null;
  const above = upper(pixels, width, shadow);
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== above[i]) n += ((pixels[i] - above[i]) / 255) ** 2;
  const { r, g, b } = fillColours(drawn.elements[0].fill)[0];
  return { groups: [drawn], shades: [{ n, r, g, b }], above, on: null };
}

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
