/**
 * Step 2: cuts the picture into many small areas of even colour, the starting point of the merge.
 *
 * In: premultiplied RGBA, `scale` (k of the paper, in colour levels: how much unevenness a small area may have) and the
 * most areas to return. Out: a label 0..count-1 per pixel. Areas are 8-connected.
 * Source: Felzenszwalb & Huttenlocher, "Efficient Graph-Based Image Segmentation" (2004); edges sorted by counting.
 */
export function segment(
  pixels: Uint8Array,
  width: number,
  height: number,
  scale: number,
  regionsMax: number,
): { labels: Int32Array; count: number } {
  const n = width * height;
  const parent = new Int32Array(n);
  for (let p = 0; p < n; p++) parent[p] = p;
  const size = new Int32Array(n).fill(1);
  const edges = sortedEdges(pixels, width, height, parent, size);
  // The most an edge may weigh and still join the area of this root. Edges come lightest first, so an area that one
  // could not join is done.
  const limit = new Float32Array(n);
  let count = 0;
  for (let p = 0; p < n; p++) {
    if (parent[p] !== p) continue;
    limit[p] = scale / size[p]!;
    count++;
  }
  const { from, step, weightEnd } = edges;
  const steps = [1, width, width + 1, width - 1];
  for (let weight = 1, e = 0, last = 0; weight < 256 && weight <= last + scale; weight++) {
    for (const end = weightEnd[weight]!; e < end; e++) {
      const p = from[e]!;
      const a = find(parent, p);
      if (weight > limit[a]!) continue;
      const b = find(parent, p + steps[step[e]!]!);
      if (a === b || weight > limit[b]!) continue;
      const root = join(parent, size, a, b);
      limit[root] = weight + scale / size[root]!;
      last = weight;
      count--;
    }
  }
  // Noise leaves every pixel an area of its own; the paper's own remedy, a least size, raised until the cap holds.
  const small = new Uint8Array(count > regionsMax ? n : 0);
  for (let least = 2; count > regionsMax && least < n; least *= 2) {
    for (let p = 0; p < n; p++) {
      parent[p] = find(parent, p);
      small[p] = size[parent[p]!]! < least ? 1 : 0;
    }
    for (let e = 0; e < from.length && count > regionsMax; e++) {
      const p = from[e]!;
      const q = p + steps[step[e]!]!;
      if (small[p] === 0 && small[q] === 0) continue;
      const a = find(parent, p);
      const b = find(parent, q);
      if (a === b || (size[a]! >= least && size[b]! >= least)) continue;
      join(parent, size, a, b);
      count--;
    }
  }
  const labels = new Int32Array(n).fill(-1);
  let next = 0;
  for (let p = 0; p < n; p++) {
    const root = find(parent, p);
    if (labels[root] === -1) labels[root] = next++;
    // A root is the least pixel of its area, so it is labelled before any other pixel of it is met.
    labels[p] = labels[root]!;
  }
  return { labels, count: next };
}

/** Follows a union-find chain to its root, halving the path on the way. */
export function find(parent: Int32Array, p: number): number {
  let at = p;
  for (let up = parent[at]!; up !== at; up = parent[at]!) {
    parent[at] = parent[up]!;
    at = parent[at]!;
  }
  return at;
}

function join(parent: Int32Array, size: Int32Array, a: number, b: number): number {
  const root = Math.min(a, b);
  const leaf = Math.max(a, b);
  parent[leaf] = root;
  size[root] = size[root]! + size[leaf]!;
  return root;
}

/** Pixel pairs in rising order of colour distance; equal pairs are joined at once and not listed. */
function sortedEdges(pixels: Uint8Array, width: number, height: number, parent: Int32Array, size: Int32Array) {
  const n = width * height;
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, n);
  const weights = new Uint8Array(n * 4);
  const histogram = new Int32Array(257);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const right = x + 1 < width;
      const below = y + 1 < height;
      let wr = 255;
      let wd = 255;
      if (right) {
        wr = words[p] === words[p + 1] ? 0 : distance(pixels, p, p + 1);
        if (wr === 0) joinPixels(parent, size, p, p + 1);
        else {
          weights[p * 4] = wr;
          histogram[wr + 1]!++;
        }
      }
      if (below) {
        wd = words[p] === words[p + width] ? 0 : distance(pixels, p, p + width);
        if (wd === 0) joinPixels(parent, size, p, p + width);
        else {
          weights[p * 4 + 1] = wd;
          histogram[wd + 1]!++;
        }
      }
      // A diagonal matters only where neither straight way round is open: a hairline, one pixel wide.
      if (!below) continue;
      if (right && wr > diagonalMin && wd > diagonalMin) {
        const w = distance(pixels, p, p + width + 1);
        if (w === 0) joinPixels(parent, size, p, p + width + 1);
        else {
          weights[p * 4 + 2] = w;
          histogram[w + 1]!++;
        }
      }
      if (x > 0 && wd > diagonalMin && weights[(p - 1) * 4]! > diagonalMin) {
        const w = distance(pixels, p, p + width - 1);
        if (w === 0) joinPixels(parent, size, p, p + width - 1);
        else {
          weights[p * 4 + 3] = w;
          histogram[w + 1]!++;
        }
      }
    }
  }
  const weightEnd = new Int32Array(257);
  for (let w = 1; w <= 256; w++) weightEnd[w] = weightEnd[w - 1]! + histogram[w]!;
  const total = weightEnd[256]!;
  const from = new Int32Array(total);
  const step = new Uint8Array(total);
  const place = weightEnd.slice();
  const any = new Uint32Array(weights.buffer);
  for (let p = 0; p < n; p++) {
    if (any[p] === 0) continue;
    for (let k = 0; k < 4; k++) {
      const w = weights[p * 4 + k]!;
      if (w === 0) continue;
      const e = place[w]!++;
      from[e] = p;
      step[e] = k;
    }
  }
  return { from, step, weightEnd: place };
}

const diagonalMin = 8;

function joinPixels(parent: Int32Array, size: Int32Array, p: number, q: number): void {
  const a = find(parent, p);
  const b = find(parent, q);
  if (a !== b) join(parent, size, a, b);
}

function distance(pixels: Uint8Array, p: number, q: number): number {
  const a = p * 4;
  const b = q * 4;
  const r = Math.abs(pixels[a]! - pixels[b]!);
  const g = Math.abs(pixels[a + 1]! - pixels[b + 1]!);
  const u = Math.abs(pixels[a + 2]! - pixels[b + 2]!);
  const o = Math.abs(pixels[a + 3]! - pixels[b + 3]!);
  return Math.max(r, g, u, o);
}
