import type { Sharp } from "sharp";
import { ApiError } from "../../../shared/errors.ts";
import { hasTooManyScans } from "../image/jpeg/scans.ts";
import { type ImageKind, kindOf } from "../image/kind.ts";
import { imageBytesMax, imagePixelsMax, imageSideMax } from "../image/limits.ts";
import type { Raster } from "../image/raster.ts";
import { readPicture } from "./read-picture.ts";

/**
 * Bytes of a PNG, JPEG or WebP as straight 8-bit sRGB: upright (EXIF), first frame only, CMYK and 16-bit converted.
 * Size is refused from the header, before a pixel is decoded. Throws ApiError `invalid_value` saying what is wrong; nobody pays
 * for a drawing of nothing.
 */
export async function decodeImage(bytes: Uint8Array, pixelsMax = imagePixelsMax): Promise<Raster> {
  if (bytes.length > imageBytesMax) throw refused(`is over ${imageBytesMax / 1e6} MB`);
  const kind = kindOf(bytes);
  if (!kind) throw refused("is not a PNG, JPEG or WebP");
  if (kind === "jpeg" && hasTooManyScans(bytes)) throw refused("is a JPEG of too many scans");
  const { width, height, depth } = await read(bytes, kind, (image) => image.metadata());
  if (width > imageSideMax || height > imageSideMax) throw refused(`is over ${imageSideMax} pixels on a side`);
  if (width * height > pixelsMax) throw refused(`is over ${pixelsMax / 1e6} megapixel${pixelsMax === 1e6 ? "" : "s"}`);
  const { data, info } = await read(bytes, kind, (image) =>
    // For 16 bits with a profile the pipeline's own space would be P3, whose numbers are not sRGB.
    (depth === "ushort" ? image.pipelineColourspace("srgb") : image)
      .autoOrient()
      .toColourspace("srgb")
      .ensureAlpha()
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true }),
  );
  // A buffer of its own: words of four bytes are read from it, so it must begin on such a border.
  const rgba = new Uint8Array(data);
  if (isEmpty(rgba)) throw refused("shows nothing: all of it is transparent");
  return { width: info.width, height: info.height, rgba };
}

function isEmpty(rgba: Uint8Array): boolean {
  for (let alpha = 3; alpha < rgba.length; alpha += 4) if (rgba[alpha] > 0) return false;
  return true;
}

async function read<T>(bytes: Uint8Array, kind: ImageKind, ask: (image: Sharp) => Promise<T>): Promise<T> {
  try {
    return await readPicture(bytes, kind, ask);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (/pixel limit/.test(message)) throw refused(`is over ${imagePixelsMax / 1e6} megapixels`, error);
    throw refused("cannot be read: it is damaged or cut short", error);
  }
}

function refused(what: string, cause?: unknown): ApiError {
  return new ApiError("invalid_value", `"image" ${what}.`, { cause, body: { field: "image" } });
}
