export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + chunkBytes)));
  }
  return btoa(parts.join(""));
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** The number of arguments that every engine takes. */
const chunkBytes = 32_768;
