declare module "imagetracerjs" {
  interface Picture {
    readonly width: number;
    readonly height: number;
    readonly data: Uint8Array | Uint8ClampedArray;
  }
  const tracer: { imagedataToSVG(picture: Picture, preset: "default" | "detailed"): string };
  export default tracer;
}
