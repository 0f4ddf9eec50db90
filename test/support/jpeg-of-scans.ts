/** A segment of a JPEG. */
export const segment = (marker: number, ...data: number[]) => [0xff, marker, 0, data.length + 2, ...data];
const codeOfOne = (table: number, symbol: number) => segment(0xc4, table, 1, ...Array(15).fill(0), symbol);

/** A grey JPEG of 64 × 64 px, with a marker behind each row of blocks from which reading can begin anew. */
export function jpegWithRestarts(): Buffer {
  const row = [0, 0];
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xdb, 0, ...Array(64).fill(16)),
    ...segment(0xc0, 8, 0, 64, 0, 64, 1, 1, 0x11, 0),
    ...codeOfOne(0x00, 0),
    ...codeOfOne(0x10, 0),
    ...segment(0xdd, 0, 8),
    ...segment(0xda, 1, 1, 0, 0, 63, 0),
    ...Array.from({ length: 7 }, (_, n) => [...row, 0xff, 0xd0 + n]).flat(),
    ...[...row, 0xff, 0xd9],
  ]);
}

/** A grey progressive JPEG of 64 × 64 px with so many scans, of nothing each: seven bits say so of all its blocks. */
export function jpegOfScans(scans: number): Buffer {
  const scan = (from: number, to: number, data: number[]) => [...segment(0xda, 1, 1, 0, from, to, 0), ...data];
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xdb, 0, ...Array(64).fill(16)),
    ...segment(0xc2, 8, 0, 64, 0, 64, 1, 1, 0x11, 0),
    // Of the first coefficients: no difference. Of the others: 64 blocks without any.
    ...codeOfOne(0x00, 0),
    ...codeOfOne(0x10, 0x60),
    ...scan(0, 0, Array(8).fill(0)),
    ...Array.from({ length: scans - 1 }, () => scan(1, 63, [0x01])).flat(),
    ...[0xff, 0xd9],
  ]);
}
