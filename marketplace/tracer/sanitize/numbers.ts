import { BadMarkupError } from "./markup.ts";

/** Beyond this no drawing goes; what does would only break renderers. */
const most = 100_000;

/** Numbers as SVG lists them, with commas, spaces or only signs between. */
export function numbersOf(text: string): number[] {
  const words = text.match(/[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi) ?? [];
  if (text.replace(/[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[\s,]+/gi, "")) {
    throw new BadMarkupError(`"${text.slice(0, 60)}" are not numbers`);
  }
  return words.map(inRange);
}

/** One length: a number, with `px` or, of `whole`, `%`. */
export function lengthOf(text: string | undefined, otherwise: number, whole = 1): number {
  if (text === undefined) return otherwise;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(px|%)?$/i.exec(text);
  if (!match) throw new BadMarkupError(`"${text.slice(0, 60)}" is not a length`);
  return match[2] === "%" ? (inRange(match[1]) / 100) * whole : inRange(match[1]);
}

/** What is shown of a drawing's plane, in its own units. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
}

/** What a percentage of an attribute is of: the width, the height, or where it has no direction the mean of both. */
export function wholeOf(attribute: string, { width, height }: Viewport): number {
  if (/^(?:c?x|x[12]|rx|width)$/.test(attribute)) return width;
  if (/^(?:c?y|y[12]|ry|height)$/.test(attribute)) return height;
  return Math.hypot(width, height) / Math.SQRT2;
}

function inRange(word: string): number {
  const value = Number(word);
  if (!(Math.abs(value) <= most)) throw new BadMarkupError(`the number ${word.slice(0, 20)} is too large`);
  return value;
}
