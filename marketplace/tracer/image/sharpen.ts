/**
 * A blurred picture, such as a small one that was enlarged, with edges as narrow as in one that was drawn at its size: each pixel on the
 * way from one colour to another comes nearer to the one that it is more of. Gradients stay, as no end of them is near. Premultiplied.
 *
 * Source: the idea of Osher & Rudin, "Feature-Oriented Image Enhancement Using Shock Filters" (1990), in one step.
 */
export function sharpened(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const edges = new Edges(pixels, width, height);
  const out = new Uint8Array(pixels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const edge = edges.at(x, y);
      if (!edge || edge.width < blurredPx) continue;
      const share = Math.max(0, Math.min(1, 0.5 + (edge.share - 0.5) * (edge.width / sharpPx)));
      const p = (y * width + x) * 4;
      for (let c = 0; c < 4; c++) {
        const from = pixels[edge.low * 4 + c];
        out[p + c] = Math.round(from + (pixels[edge.high * 4 + c] - from) * share);
      }
    }
  }
  return out;
}

/**
 * How wide most edges of a picture are, px; 0 where they would not be wide at `scale`. Premultiplied; of a large picture some rows are
 * looked at.
 */
export function blurOf(pixels: Uint8Array, width: number, height: number, scale = 1): number {
  const edges = new Edges(pixels, width, height);
  const widths: number[] = [];
  const rowsApart = Math.max(rowsApartMin, Math.ceil((width * height) / lookedAtMax));
  for (let y = 0; y < height; y += rowsApart) {
    for (let x = 0; x < width; x++) {
      const edge = edges.at(x, y);
      // Each edge counts once, in its middle.
      if (edge && Math.abs(edge.share - 0.5) * edge.width <= 0.5) widths.push(edge.width);
    }
  }
  widths.sort((a, b) => a - b);
  const isBlurred = widths.length >= edgesMin && widths[(widths.length * sharpShareMax) | 0] * scale >= blurredPx;
  return isBlurred ? widths[widths.length >> 1] : 0;
}

interface Edge {
  /** Where the way from one colour to the other begins and ends: pixels. */
  readonly low: number;
  readonly high: number;
  /** How far on the way the pixel is, 0 to 1. */
  readonly share: number;
  /** What the way would take if it were as steep everywhere as where it is steepest, px. */
  readonly width: number;
}

/** The edges of a picture, each looked at by the channel that changes most. */
class Edges {
  private readonly pixels: Uint8Array;
  private readonly width: number;
  private readonly height: number;
  private channel = 0;
  private dx = 0;
  private dy = 0;
  private end = 0;
  private steepest = 0;

  constructor(pixels: Uint8Array, width: number, height: number) {
    this.pixels = pixels;
    this.width = width;
    this.height = height;
  }

  /** Null for a pixel that is on no edge, or on one without an end nearby. */
  at(x: number, y: number): Edge | null {
    if (this.isEven(x, y)) return null;
    this.steepest = this.turn(x, y);
    if (this.steepest < slopeMin) return null;
    if (!this.walk(x, y, 1)) return null;
    const high = this.end;
    // What is see-through at its most is soft, as shadows are.
    if (this.channel === alpha && this.pixels[high * 4 + alpha] < opaqueMin) return null;
    if (!this.walk(x, y, -1)) return null;
    const low = this.end;
    const from = this.pixels[low * 4 + this.channel];
    const range = this.pixels[high * 4 + this.channel] - from;
    if (range < rangeMin) return null;
    return { low, high, share: (this.level(x, y, this.channel) - from) / range, width: range / this.steepest };
  }

  /** A cheap look at what most pixels are. */
  private isEven(x: number, y: number): boolean {
    for (let c = 0; c < 4; c++) {
      const across = this.level(x + aside, y, c) - this.level(x - aside, y, c);
      const down = this.level(x, y + aside, c) - this.level(x, y - aside, c);
      if (across > evenMax || across < -evenMax || down > evenMax || down < -evenMax) return false;
    }
    return true;
  }

  /** Turns to where the channel that changes most becomes more; answers by how much, levels per px. */
  private turn(x: number, y: number): number {
    let most = 0;
    for (let c = 0; c < 4; c++) {
      let across = 0;
      let down = 0;
      for (let k = -aside; k <= aside; k++) {
        across += this.level(x + aside, y + k, c) - this.level(x - aside, y + k, c);
        down += this.level(x + k, y + aside, c) - this.level(x + k, y - aside, c);
      }
      const square = across * across + down * down;
      if (square <= most) continue;
      most = square;
      this.channel = c;
      this.dx = across;
      this.dy = down;
    }
    const length = Math.sqrt(most);
    this.dx /= length;
    this.dy /= length;
    return length / (2 * aside * (2 * aside + 1));
  }

  /** To where it is hardly steep any more, or the other way; answers whether there is such a place nearby. */
  private walk(x: number, y: number, sign: number): boolean {
    const { width, height, channel, dx, dy } = this;
    let before = this.level(x, y, channel);
    this.end = y * width + x;
    for (let step = 1; step <= wayMax; step++) {
      const nextX = x + sign * step * dx;
      const nextY = y + sign * step * dy;
      if (nextX < 0 || nextY < 0 || nextX > width - 1 || nextY > height - 1) return true;
      const next = this.between(nextX, nextY, channel);
      const change = (next - before) * sign;
      if (change < this.steepest * flatShare) return true;
      if (change > this.steepest) this.steepest = change;
      before = next;
      this.end = Math.round(nextY) * width + Math.round(nextX);
    }
    return false;
  }

  private between(x: number, y: number, c: number): number {
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [across, down] = [x - left, y - top];
    const above = this.level(left, top, c) * (1 - across) + this.level(left + 1, top, c) * across;
    const below = this.level(left, top + 1, c) * (1 - across) + this.level(left + 1, top + 1, c) * across;
    return above * (1 - down) + below * down;
  }

  private level(x: number, y: number, c: number): number {
    const { width, height } = this;
    const row = y < 0 ? 0 : y < height ? y : height - 1;
    const column = x < 0 ? 0 : x < width ? x : width - 1;
    return this.pixels[(row * width + column) * 4 + c];
  }
}

/** From this width on an edge is blurred, px; and how wide it becomes. */
const blurredPx = 3;
const sharpPx = 1.2;
/** A picture of which more edges are sharp is not blurred, whatever else is. */
const sharpShareMax = 0.15;
/** Edges that tell. */
const edgesMin = 20;
const rowsApartMin = 4;
/** Px looked at to tell. */
const lookedAtMax = 500_000;
/** Px to each side that the direction of an edge is measured by; and levels that even places may differ by over that. */
const aside = 2;
const evenMax = 2;
const alpha = 3;
const opaqueMin = 230;
/** Levels per px of what may be an edge, and levels from its one side to the other. */
const slopeMin = 1.5;
const rangeMin = 24;
/** Px to the end of an edge at most. */
const wayMax = 24;
/** What is less steep than this share of the steepest place is the end. */
const flatShare = 0.08;
