import encodeQR from "qr";

const quietModules = 4;

/** A QR code as a picture of one path, dark on light whatever the theme: that is what cameras read. */
export function qrCode(text: string): SVGSVGElement {
  const rows = encodeQR(text, "raw", { ecc: "low", border: quietModules });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  path.setAttribute("d", dark.join(""));
  svg.append(path);
  return svg;
}
