import type { Drawing } from "../../../tracer/drawing.ts";
import { writeSvg } from "../../../tracer/output/write-svg.ts";

export const svgType = "image/svg+xml";

export const svgBlob = (drawing: Drawing) => new Blob([writeSvg(drawing)], { type: svgType });

/** The drawing's own curves and gradients, by the writer that the server has: nothing is made of pixels. */
export async function pdfBlob(drawing: Drawing): Promise<Blob> {
  // Few drawings are saved so.
  const { layOutPdf } = await import("../../../tracer/output/pdf-page.ts");
  const { content, assemble } = layOutPdf(drawing);
  const squeezed = new Blob([content as BlobPart]).stream().pipeThrough(new CompressionStream("deflate"));
  const compressed = new Uint8Array(await new Response(squeezed).arrayBuffer());
  return new Blob([assemble(compressed) as BlobPart], { type: "application/pdf" });
}

/** The browser's own rendering, `times` as large as the picture. */
export async function pngBlob(drawing: Drawing, times: number): Promise<Blob> {
  const url = URL.createObjectURL(svgBlob(drawing));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const [width, height] = [Math.round(drawing.width * times), Math.round(drawing.height * times)];
    const canvas = new OffscreenCanvas(width, height);
    (canvas.getContext("2d") as OffscreenCanvasRenderingContext2D).drawImage(image, 0, 0, width, height);
    return await canvas.convertToBlob({ type: "image/png" });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Saves a file as if a link to it had been followed. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
