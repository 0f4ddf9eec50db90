import sharp from "sharp";

// libvips reads forty formats, SVG and PDF among them; a caller's bytes may meet only these three readers.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadPng", "VipsForeignLoadJpeg", "VipsForeignLoadWebp"] });

export { sharp };
