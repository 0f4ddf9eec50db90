import { imageBytesMax, imagePixelsMax, imageSideMax } from "../../../tracer/image/limits.ts";
import type { Raster } from "../../../tracer/image/raster.ts";
import { previewSideMax } from "../../../tracer/options.ts";

/** What can be traced: as the API takes it. */
export const pictureTypes = ["image/png", "image/jpeg", "image/webp"];

/** A picture that a person chose. */
export interface Picture {
  readonly name: string;
  readonly blob: Blob;
  /** Shows it in the page. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
  /** Its pixels for the preview, of at most `previewSideMax` on a side. */
  readonly small: Raster;
}

/** Why a picture cannot be used, for a person to read. */
export class PictureError extends Error {
  override readonly name = "PictureError";
}

/** Throws PictureError. */
export async function readPicture(blob: Blob, name: string): Promise<Picture> {
  if (!pictureTypes.includes(blob.type)) throw new PictureError("PNG, JPEG or WebP only.");
  if (blob.size > imageBytesMax) throw new PictureError(`At most ${imageBytesMax / 1e6} MB.`);
  const bitmap = await createImageBitmap(blob).catch((cause) => {
    throw new PictureError("It cannot be read: it is damaged or cut short.", { cause });
  });
  try {
    const { width, height } = bitmap;
    if (Math.max(width, height) > imageSideMax) throw new PictureError(`At most ${imageSideMax} pixels on a side.`);
    if (width * height > imagePixelsMax) throw new PictureError(`At most ${imagePixelsMax / 1e6} megapixels.`);
    const small = pixelsOf(bitmap, Math.min(1, previewSideMax / Math.max(width, height)));
    return { name, blob, url: URL.createObjectURL(blob), width, height, small };
  } finally {
    bitmap.close();
  }
}

/** The picture as PNG of at most `most` pixels; the picture itself where it has no more. */
export async function reducedTo(picture: Picture, most: number): Promise<Blob> {
  const { width, height, blob } = picture;
  if (width * height <= most) return blob;
  const bitmap = await createImageBitmap(blob);
  const canvas = drawn(bitmap, Math.sqrt(most / (width * height)), Math.floor);
  bitmap.close();
  return canvas.convertToBlob({ type: "image/png" });
}

/** How an SVG looks: its pixels at the given size. */
export async function renderedPixels(image: HTMLImageElement, width: number, height: number): Promise<Raster> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0, width, height);
  return rasterOf(context, width, height);
}

export async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_190) text += btoa(String.fromCharCode(...bytes.subarray(at, at + 8_190)));
  return text;
}

function pixelsOf(bitmap: ImageBitmap, scale: number): Raster {
  const canvas = drawn(bitmap, scale, Math.round);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  return rasterOf(context, canvas.width, canvas.height);
}

function drawn(bitmap: ImageBitmap, scale: number, whole: (value: number) => number): OffscreenCanvas {
  const width = Math.max(1, whole(bitmap.width * scale));
  const height = Math.max(1, whole(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  return canvas;
}

function rasterOf(context: OffscreenCanvasRenderingContext2D, width: number, height: number): Raster {
  const { data } = context.getImageData(0, 0, width, height);
  return { width, height, rgba: new Uint8Array(data.buffer) };
}
