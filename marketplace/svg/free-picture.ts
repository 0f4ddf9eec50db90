/** The largest picture that is traced for nothing. */
export const freePixelsMax = 1_000_000;

/** That size in words. */
export const freePictureMax = `${freePixelsMax / 1e6} megapixel${freePixelsMax === 1e6 ? "" : "s"}`;
