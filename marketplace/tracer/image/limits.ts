/** The largest picture that is traced; what is larger is refused before a pixel is decoded. */
export const imageBytesMax = 10_000_000;
export const imagePixelsMax = 16_000_000;
export const imageSideMax = 8192;
