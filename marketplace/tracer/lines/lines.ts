import type { Shape, Stroke } from "../drawing.ts";

export interface LiftedStroke {
  readonly shape: Shape;
  readonly stroke: Stroke;
  readonly closed: boolean;
}

/** Strokes that were lifted off a picture, in the order in which they lie over each other. */
export interface Lines {
  readonly strokes: readonly LiftedStroke[];
  /** The stroke that lies on each pixel, or -1. */
  readonly at: Int32Array;
  /** 1 for each pixel beneath or beside a stroke. */
  readonly near: Uint8Array;
}
