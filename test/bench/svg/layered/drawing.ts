/** A drawing in SVG whose groups, directly under the root, are what a person would name; `background` is the ground. */
export interface LayeredDrawing {
  readonly width: number;
  readonly height: number;
  readonly body: string;
}

export const g = (id: string, ...body: readonly string[]) => `<g id="${id}">${body.join("")}</g>`;

export const drawing = (width: number, height: number, ...groups: readonly string[]): LayeredDrawing => ({
  width,
  height,
  body: groups.join(""),
});

export const ground = (width: number, height: number, fill: string) =>
  g("background", `<rect width="${width}" height="${height}" fill="${fill}"/>`);

export const range = (n: number) => Array.from({ length: n }, (_, i) => i);
