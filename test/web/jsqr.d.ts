/** Its own types say that the module itself is the function, which is so for CommonJS alone. */
declare module "jsqr" {
  /** What a QR code in straight RGBA pixels says; null where none is found. */
  export default function jsQR(rgba: Uint8ClampedArray, width: number, height: number): { data: string } | null;
}
