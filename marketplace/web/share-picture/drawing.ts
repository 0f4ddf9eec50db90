import { markRails, siteName } from "../brand.tsx";
import { type Font, fonts } from "./font.ts";

export const pictureSize = { width: 1200, height: 630 } as const;

/** What a picture says. Everything in it may be a stranger's text. */
export interface Shared {
  readonly title: string;
  readonly text: string;
  /** At the foot: an address, such as `ada/summarizer`. */
  readonly address: string;
  /** At the foot's other end, such as `5 credits` and `0.05 USDC`. */
  readonly price?: { readonly credits: string; readonly usdc: string } | undefined;
}

const ink = "#11141a";
const ink2 = "#474e5c";
const accent = "#1f3fe0";
const margin = 80;
const room = pictureSize.width - 2 * margin;

/** The picture as SVG. What the fonts cannot draw is left out; where nothing of a title is left, the address stands in its place. */
export function pictureSvg({ title, text, address, price }: Shared): string {
  const heading = fonts.strong.drawable(title) || address;
  const [size, lines] = fitted(heading);
  const below = 250 + (lines.length - 1) * size * 1.12;
  const body = linesOf(fonts.text, fonts.text.drawable(text), {
    size: 32,
    width: room,
    linesMax: lines.length > 1 ? 2 : 3,
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pictureSize.width}" height="${pictureSize.height}" viewBox="0 0 1200 630">`,
    '<rect width="1200" height="630" fill="#ffffff"/>',
    rails,
    brand,
    ...lines.map((line, n) => label({ x: margin, y: 250 + n * size * 1.12, size, fill: ink, weight: 600 }, line)),
    ...body.map((line, n) => label({ x: margin, y: below + 64 + n * 46, size: 32, fill: ink2, weight: 400 }, line)),
    '<path d="M80 520H1120" stroke="#e4e7ec" stroke-width="2"/>',
    label(
      { x: margin, y: 572, size: 28, fill: accent, weight: 500, mono: true },
      cut(fonts.mono, address, 28, room - priceWidth(price) - 40),
    ),
    ...(price ? priceLabels(price) : []),
    "</svg>",
  ].join("\n");
}

/** The title in the largest size at which it fits on two lines. */
function fitted(title: string): [number, string[]] {
  for (const size of [76, 64, 54]) {
    const lines = linesOf(fonts.strong, title, { size, width: room, linesMax: 2 });
    if (lines.length === 1 || !lines.at(-1)?.endsWith("…") || size === 54) return [size, lines];
  }
  return [54, []];
}

function priceWidth(price: Shared["price"]): number {
  return price ? (fonts.text.widthOf(price.usdc) + fonts.strong.widthOf(price.credits)) * 28 + 20 : 0;
}

function priceLabels({ credits, usdc }: { credits: string; usdc: string }): string[] {
  const usdcWidth = fonts.text.widthOf(usdc) * 28;
  return [
    label({ x: pictureSize.width - margin, y: 572, size: 28, fill: ink2, weight: 400, end: true }, usdc),
    label(
      { x: pictureSize.width - margin - usdcWidth - 20, y: 572, size: 28, fill: ink, weight: 600, end: true },
      credits,
    ),
  ];
}

interface Lines {
  readonly size: number;
  readonly width: number;
  readonly linesMax: number;
}

/** Broken at spaces; a word that is too long is cut, and so is what finds no room. */
function linesOf(font: Font, text: string, { size, width, linesMax }: Lines): string[] {
  const lines: string[] = [];
  let line = "";
  const words = text.split(" ");
  for (const [index, word] of words.entries()) {
    const longer = line ? `${line} ${word}` : word;
    if (font.widthOf(longer) * size <= width) line = longer;
    else if (lines.length === linesMax - 1)
      return [...lines, cut(font, [longer, ...words.slice(index + 1)].join(" "), size, width)];
    else {
      if (line) lines.push(line);
      line = cut(font, word, size, width);
    }
  }
  return line ? [...lines, line] : lines;
}

function cut(font: Font, text: string, size: number, width: number): string {
  if (font.widthOf(text) * size <= width) return text;
  const characters = [...text].slice(0, 400);
  while (characters.length > 0 && font.widthOf(`${characters.join("")}…`) * size > width) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

interface Label {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string;
  readonly weight: 400 | 500 | 600;
  readonly mono?: boolean;
  /** The text ends at `x`. */
  readonly end?: boolean;
}

function label({ x, y, size, fill, weight, mono = false, end = false }: Label, text: string): string {
  const family = mono ? "Geist Mono" : "Geist";
  const spacing = weight === 600 && size > 40 ? ` letter-spacing="${(-0.03 * size).toFixed(1)}"` : "";
  const anchor = end ? ' text-anchor="end"' : "";
  return `<text x="${x}" y="${y}" font-family="${family}" font-weight="${weight}" font-size="${size}" fill="${fill}"${spacing}${anchor}>${escaped(text)}</text>`;
}

/** For text between tags; no font draws what XML does not know, such as control characters. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Three rails that lead into one stop, as in the mark. */
const rails = `<g fill="none" stroke="#e4e7ec" stroke-width="3">
<path d="M720 44H860C980 44 960 94 1080 94M720 94H1080M720 144H860C980 144 960 94 1080 94"/></g>
<circle cx="1100" cy="94" r="20" fill="${accent}"/>`;

const brand = `<g transform="translate(80 70) scale(2)"><rect width="24" height="24" rx="6.5" fill="${ink}"/>
<path d="${markRails}" fill="none" stroke="#ffffff" stroke-width="1.75" stroke-linecap="round"/>
<circle cx="17.25" cy="12" r="2.75" fill="#7d94ff"/></g>
<text x="146" y="104" font-family="Geist" font-weight="600" font-size="30" fill="${ink}" letter-spacing="-0.6">${siteName}</text>`;
