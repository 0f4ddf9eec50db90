/** Files of cameras and editors have a dozen at most. */
const scansMax = 100;

/** Whether a JPEG has so many scans, each of which is decoded over all of the picture, that a small file would take minutes. */
export function hasTooManyScans(bytes: Uint8Array): boolean {
  let scans = 0;
  let at = 2;
  while (at + 4 <= bytes.length) {
    const marker = bytes[at + 1] as number;
    if (bytes[at] !== markerStart) {
      at = bytes.indexOf(markerStart, at);
      if (at === -1) return false;
    } else if (marker === markerStart) at += 1;
    else if (isBare(marker)) at += 2;
    else {
      if (marker === endOfImage) return false;
      if (marker === startOfScan) scans += 1;
      if (scans > scansMax) return true;
      at += 2 + (((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number));
    }
  }
  return false;
}

/** Without a length after it: a 0xff in a scan's data, a restart, or the start of the image. */
const isBare = (marker: number) => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

const [markerStart, startOfScan, endOfImage] = [0xff, 0xda, 0xd9];
