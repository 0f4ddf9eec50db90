import { visibleWords } from "./pixel-grid.ts";
import { premultiply, type Raster } from "./raster.ts";

/**
 * Whether a small picture is pixel art at its own size, one pixel a cell. It is told by what anti-aliasing, photographs and
 * gradients never leave: an outline that goes in steps from drawn to nothing without a see-through pixel; a few colours,
 * each used many times over, in every place as grain; or colours that meet without blends. A blend is a colour that
 * nearly always lies between those of its neighbours: in pixel art one does here and there, but not everywhere.
 */
export function isPixelArt(image: Raster): boolean {
  const { width, height } = image;
  if (Math.max(width, height) > sideMax || Math.min(width, height) < sideMin) return false;
  const marks = marksOf(image);
  if (marks.colours < 2 || marks.opacities > opacitiesMax) return false;
  return isCutOut(marks) || isGrain(marks) || isFlat(marks);
}

/**
 * Whether a picture of any size could be pixel art: a few colours in steps, without a blend, and areas so small that there is nothing to
 * smooth, as there is in a chart or a page of few colours. Grain is like that too; drawing each of its pixels takes far more bytes.
 */
export function mayBePixelArt(image: Raster): boolean {
  if (image.width * image.height > cellsMax || hasMoreColours(image, coloursMax)) return false;
  const { colours, seeThrough, blends, hard, steps, changes } = marksOf(image);
  // A drawing in fewer colours has outlines that are better smooth.
  return colours >= 4 && seeThrough === 0 && blends <= 0.1 && hard >= 0.95 && steps >= 0.1 && changes >= 0.2;
}

function hasMoreColours(image: Raster, most: number): boolean {
  const words = visibleWords(image);
  const seen = new Set<number>();
  for (let p = 0; p < words.length && seen.size <= most; p++)
    if (p === 0 || words[p] !== words[p - 1]) seen.add(words[p]);
  return seen.size > most;
}

/** Beyond this many cells a picture is not pixel art but an enlarged photograph. */
export const cellsMax = 400_000;
const sideMax = 96;
const sideMin = 6;
/** Most levels of alpha between nothing and opaque. */
const opacitiesMax = 4;
const coloursMax = 64;

/** A sprite on nothing: its silhouette turns at every few pixels, and none of them is see-through. */
function isCutOut({ silhouette, turns, seeThrough, colours, cellsPerColour }: Marks): boolean {
  return silhouette >= 8 && turns >= 0.1 * silhouette && seeThrough === 0 && colours <= 256 && cellsPerColour > 1.6;
}

/** A tile of speckles: hardly two neighbours are alike, yet the same colours come again and again. */
function isGrain({ colours, cellsPerColour, faint, once, even, blends }: Marks): boolean {
  if (colours > coloursMax || cellsPerColour < 4 || faint > 0.5) return false;
  return (once <= 0.1 && even <= 0.5) || (once <= 0.3 && even <= 0.6 && blends <= 0.35);
}

/** Areas of few colours, in steps; straight bars and lines, which may as well be of a page, are not enough. */
function isFlat({ colours, cellsPerColour, once, even, blends, hard, faint, soft, steps }: Marks): boolean {
  if (colours > coloursMax || cellsPerColour < 6 || once * colours > Math.max(1, 0.25 * colours)) return false;
  return blends <= 0.35 && hard >= 0.7 && faint < 0.3 && soft < 0.6 && (steps >= 0.1 || even <= 0.85);
}

interface Marks extends Uses, Edges {
  /** Levels of alpha between nothing and opaque, and how many pixels have one. */
  readonly opacities: number;
  readonly seeThrough: number;
}

interface Uses {
  readonly colours: number;
  readonly cellsPerColour: number;
  /** Share of the colours that are used once. */
  readonly once: number;
  /** Share of the colours that are blends. */
  readonly blends: number;
  /** Share of the pixels beside one of their own colour. */
  readonly even: number;
}

interface Edges {
  /** Sides at which colours change, to a pixel. */
  readonly changes: number;
  /** Shares of the sides at which colours change: those without a blend, those of at most 4 levels, and of at most 12. */
  readonly hard: number;
  readonly faint: number;
  readonly soft: number;
  /** How many corners of cells there are to each such side. */
  readonly steps: number;
  /** Sides between a pixel that is drawn and one that is not, and blocks of 2 × 2 in which they turn. */
  readonly silhouette: number;
  readonly turns: number;
}

function marksOf(image: Raster): Marks {
  const words = visibleWords(image);
  const pixels = premultiply(image);
  const { uses, blends } = usesOf(words, pixels, image.width);
  const opacities = new Set<number>();
  let seeThrough = 0;
  for (let i = 3; i < image.rgba.length; i += 4) {
    if (image.rgba[i] === 0 || image.rgba[i] === 255) continue;
    opacities.add(image.rgba[i]);
    seeThrough++;
  }
  return { ...uses, ...edgesOf(words, pixels, image.width, blends), opacities: opacities.size, seeThrough };
}

interface Use {
  all: number;
  between: number;
}

function usesOf(words: Int32Array, pixels: Uint8Array, width: number) {
  const found = new Map<number, Use>();
  let use: Use = { all: 0, between: 0 };
  let even = 0;
  for (let p = 0; p < words.length; p++) {
    const x = p % width;
    if (p === 0 || words[p] !== words[p - 1]) {
      use = found.get(words[p]) ?? { all: 0, between: 0 };
      found.set(words[p], use);
    }
    use.all++;
    const across = x > 0 && x < width - 1 && liesBetween(pixels, words, p, 1);
    const down = p >= width && p + width < words.length && liesBetween(pixels, words, p, width);
    if (across || down) use.between++;
    if (isBesideLike(words, p, width)) even++;
  }
  const blends = new Set([...found].filter(([, { all, between }]) => between >= blendShareMin * all).map(([w]) => w));
  const colours = found.size;
  const once = [...found.values()].filter(({ all }) => all === 1).length / colours;
  const uses: Uses = {
    colours,
    cellsPerColour: words.length / colours,
    once,
    blends: blends.size / colours,
    even: even / words.length,
  };
  return { uses, blends };
}

/** Share of its pixels that lie between two neighbours, from which a colour is a blend. */
const blendShareMin = 0.7;

function isBesideLike(words: Int32Array, p: number, width: number): boolean {
  const x = p % width;
  const here = words[p];
  if ((x > 0 && words[p - 1] === here) || (x < width - 1 && words[p + 1] === here)) return true;
  return words[p - width] === here || words[p + width] === here;
}

function liesBetween(pixels: Uint8Array, words: Int32Array, p: number, step: number): boolean {
  if (words[p] === words[p - step] || words[p] === words[p + step]) return false;
  let span = 0;
  let along = 0;
  let square = 0;
  for (let c = 0; c < 4; c++) {
    const from = pixels[(p - step) * 4 + c];
    const whole = pixels[(p + step) * 4 + c] - from;
    const here = pixels[p * 4 + c] - from;
    span += whole * whole;
    along += whole * here;
    square += here * here;
  }
  if (span < contrastSquaredMin || along < 0.08 * span || along > 0.92 * span) return false;
  return square - (along * along) / span < 0.01 * span + 20;
}

const contrastSquaredMin = 28 * 28;

function edgesOf(words: Int32Array, pixels: Uint8Array, width: number, blends: ReadonlySet<number>): Edges {
  const found = { all: 0, hard: 0, faint: 0, soft: 0, steps: 0, silhouette: 0, turns: 0 };
  const isDrawn = (p: number) => pixels[p * 4 + 3] >= 128;
  const compare = (p: number, q: number) => {
    if (words[p] === words[q]) return;
    let most = 0;
    for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(pixels[p * 4 + c] - pixels[q * 4 + c]));
    found.all++;
    if (!blends.has(words[p]) && !blends.has(words[q])) found.hard++;
    if (most <= 4) found.faint++;
    if (most <= 12) found.soft++;
    if (isDrawn(p) !== isDrawn(q)) found.silhouette++;
  };
  for (let p = 0; p < words.length; p++) {
    const x = p % width;
    if (x > 0) compare(p, p - 1);
    if (p >= width) compare(p, p - width);
    if (x === 0 || p < width) continue;
    const left = p - 1;
    const above = p - width;
    const across = above - 1;
    if (words[p] === words[left] && words[p] === words[above] && words[p] === words[across]) continue;
    if (turns(isDrawn(p), isDrawn(left), isDrawn(above), isDrawn(across))) found.turns++;
    if (steps(words[p], words[left], words[above], words[across])) found.steps++;
  }
  const { all, hard, faint, soft, silhouette } = found;
  const changes = all / words.length;
  return {
    changes,
    hard: hard / all,
    faint: faint / all,
    soft: soft / all,
    steps: found.steps / all,
    silhouette,
    turns: found.turns,
  };
}

/** Whether the border between the two kinds of a block of 2 × 2 turns in it. */
function turns(here: unknown, left: unknown, above: unknown, across: unknown): boolean {
  const alike = Number(left === here) + Number(above === here) + Number(across === here);
  return alike === 0 || alike === 2 || (alike === 1 && across === here);
}

/** Whether it turns in it, and there are two colours. */
function steps(here: number, left: number, above: number, across: number): boolean {
  const other = left !== here ? left : above !== here ? above : across;
  const isOfBoth = (colour: number) => colour === here || colour === other;
  return isOfBoth(above) && isOfBoth(across) && turns(here, left, above, across);
}
