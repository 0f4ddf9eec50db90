/** The one colour that a picture's objects lie on. */
export interface EvenGround {
  /** 0..255. */
  readonly colour: readonly [number, number, number];
  /** 1 per pixel that is nothing but ground and reached from the picture's edge. */
  readonly members: Uint8Array;
}

/** The opaque ground of one colour that most of the picture's edge is of; null where there is none. */
export function evenGround(pixels: Uint8Array, width: number, height: number): EvenGround | null {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
  const edge = edgeOf(width, height);
  const counts = new Map<number, number>();
  let main = edge[0];
  for (const p of edge) {
    const count = (counts.get(words[p]) ?? 0) + 1;
    counts.set(words[p], count);
    if (count > counts.get(words[main])!) main = p;
  }
  if (pixels[main * 4 + 3] !== 255) return null;
  const off = (p: number) => levelsApart(pixels, p, main);
  const near = edge.filter((p) => off(p) <= noise);
  if (near.length < shareMin * edge.length) return null;
  const most = counts.get(words[main])! >= cleanMin * near.length ? 0 : noise;
  const members = new Uint8Array(width * height);
  const stack = near.filter((p) => off(p) <= most);
  for (const p of stack) members[p] = 1;
  for (let p = stack.pop(); p !== undefined; p = stack.pop()) {
    const x = p % width;
    for (const q of [x > 0 ? p - 1 : p, x + 1 < width ? p + 1 : p, p - width, p + width]) {
      if (q < 0 || q >= members.length || members[q] === 1 || off(q) > most) continue;
      members[q] = 1;
      stack.push(q);
    }
  }
  return { colour: [pixels[main * 4], pixels[main * 4 + 1], pixels[main * 4 + 2]], members };
}

/** Most levels that noise moves a ground's pixel by, and from what share of equal pixels on there is none. */
const noise = 2;
const cleanMin = 0.97;
/** Least share of the picture's edge. */
const shareMin = 0.4;

function edgeOf(width: number, height: number): number[] {
  const edge: number[] = [];
  for (let x = 0; x < width; x++) edge.push(x, (height - 1) * width + x);
  for (let y = 1; y < height - 1; y++) edge.push(y * width, y * width + width - 1);
  return edge;
}

/** The most that two pixels differ in a channel. */
export function levelsApart(pixels: Uint8Array, p: number, q: number): number {
  let most = 0;
  for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(pixels[p * 4 + c] - pixels[q * 4 + c]));
  return most;
}
