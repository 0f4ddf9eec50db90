/** The stretches of equal values in the rows of a picture. Flat pictures have few, so work by runs is work by outline. */
export interface Runs {
  /** Where each begins, with one more entry for the end. */
  readonly begins: Int32Array;
  /** The first run of each row, with one more entry for the end. */
  readonly rows: Int32Array;
}

export function runsOf(values: Int32Array, width: number, height: number): Runs {
  const rows = new Int32Array(height + 1);
  let begins: Int32Array = new Int32Array(1 << 12);
  let count = 0;
  for (let y = 0, p = 0; y < height; y++) {
    if (begins.length - count <= width) begins = withRoom(begins, width + 1);
    rows[y] = count;
    for (const end = p + width; p < end; ) {
      const value = values[p];
      begins[count++] = p;
      do p++;
      while (p < end && values[p] === value);
    }
  }
  begins[count] = values.length;
  rows[height] = count;
  return { begins: begins.subarray(0, count + 1), rows };
}

/** A copy of the numbers with room for at least `more`. */
export function withRoom(numbers: Int32Array, more: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * (numbers.length + more));
  longer.set(numbers);
  return longer;
}

/** Pixels as signed numbers of 32 bits each, to compare them at once. */
export function asWords({ buffer, byteOffset, byteLength }: Uint8Array): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength >> 2);
}

/** Sets what is from `begin` up to `end`. The engine's own way has its price, which a short stretch is not worth. */
export function fillRun(values: Int32Array, value: number, begin: number, end: number): void {
  if (end - begin > 48) values.fill(value, begin, end);
  else for (let p = begin; p < end; p++) values[p] = value;
}

/** The longest runs of one value each, of runs whose neighbours in a row may have the same. */
export function joinedRuns({ begins, rows }: Runs, values: Int32Array): { runs: Runs; values: Int32Array } {
  const joined = { begins: new Int32Array(begins.length), rows: new Int32Array(rows.length) };
  const kept = new Int32Array(values.length);
  let count = 0;
  for (let y = 0; y + 1 < rows.length; y++) {
    joined.rows[y] = count;
    for (let run = rows[y]; run < rows[y + 1]; run++) {
      if (count > joined.rows[y] && kept[count - 1] === values[run]) continue;
      joined.begins[count] = begins[run];
      kept[count++] = values[run];
    }
  }
  joined.rows[rows.length - 1] = count;
  joined.begins[count] = begins[values.length];
  return {
    runs: { begins: joined.begins.subarray(0, count + 1), rows: joined.rows },
    values: kept.subarray(0, count),
  };
}

/** The value of each run. */
export function valuesOf({ begins }: Runs, values: Int32Array): Int32Array {
  const found = new Int32Array(begins.length - 1);
  for (let run = 0; run < found.length; run++) found[run] = values[begins[run]];
  return found;
}

export function eachRun({ begins }: Runs, visit: (begin: number, end: number) => void): void {
  for (let run = 0; run + 1 < begins.length; run++) visit(begins[run], begins[run + 1]);
}

/** Names each run with each below it that it shares columns with: the pixels of the upper one, `from` up to `to`, that do. */
export function eachOverlap(
  { begins, rows }: Runs,
  width: number,
  visit: (upper: number, lower: number, from: number, to: number) => void,
): void {
  for (let y = 0; y + 2 < rows.length; y++) {
    let lower = rows[y + 1];
    for (let upper = rows[y]; upper < rows[y + 1]; upper++) {
      const end = begins[upper + 1];
      for (let from = begins[upper]; from < end; ) {
        const below = begins[lower + 1] - width;
        const to = Math.min(end, below);
        visit(upper, lower, from, to);
        if (to === below) lower++;
        from = to;
      }
    }
  }
}
