/** The formats that are read. */
export type ImageKind = "png" | "jpeg" | "webp";

/** What an image is by its first bytes, whatever the caller called it. */
export function kindOf(bytes: Uint8Array): ImageKind | null {
  const starts = (at: number, ...values: number[]) => values.every((value, i) => bytes[at + i] === value);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "png";
  if (starts(0, 0xff, 0xd8, 0xff)) return "jpeg";
  return starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50) ? "webp" : null;
}
