import { carried } from "../objects/text-runs.ts";
import { type Areas, joinPaints, regrouped } from "../regions/areas.ts";
import { beneath, markNear, withoutLines } from "./beneath.ts";
import { type Candidate, type Sizes, thinAreas } from "./candidates.ts";
import { type Measures, measureAreas } from "./measure.ts";
import type { Work } from "./refine.ts";

/** The rest of the picture, and the strokes lifted off so far. Arrays of the picture's size are made with the first stroke. */
export class State {
  areas: Areas;
  pixels: Uint8Array;
  runOf: Int32Array | null;
  readonly deadlineMs: number;
  /** Areas that are no strokes: their first place, their size and how wide a stroke was wanted. */
  readonly failed = new Set<string>();
  /** Areas that are strokes, but wider than was wanted: their first place and their size. */
  readonly wide = new Set<string>();
  readonly work: Work = { left: workMax, failures: 0 };
  /** 1 for areas that are pieces of a line with thick parts. */
  pieces: Uint8Array | null = null;
  private measures: Measures | null = null;
  private strokeAt: Int32Array | null = null;
  private nearStroke: Uint8Array | null = null;
  private scratch: Uint8Array | null = null;

  constructor(areas: Areas, pixels: Uint8Array, runOf: Int32Array | null, deadlineMs: number) {
    this.deadlineMs = deadlineMs;
    this.areas = areas;
    this.runOf = runOf;
    this.pixels = pixels;
  }

  /** Measures of the areas as they are now. */
  get measured(): Measures {
    this.measures ??= measureAreas(this.areas.map);
    return this.measures;
  }

  /** Areas that may be strokes, but for those of texts. */
  candidates(sizes: Sizes): Candidate[] {
    return thinAreas(this.areas, this.measured, sizes, {
      isText: (area) => this.runOf !== null && this.runOf[area] >= 0,
      isPiece: (area) => this.pieces?.[area] === 1,
    });
  }

  get at(): Int32Array {
    this.strokeAt ??= new Int32Array(this.areas.map.width * this.areas.map.height).fill(-1);
    return this.strokeAt;
  }

  get near(): Uint8Array {
    this.nearStroke ??= new Uint8Array(this.areas.map.width * this.areas.map.height);
    return this.nearStroke;
  }

  /** A byte for each place in the map of areas. */
  get on(): Uint8Array {
    this.scratch ??= new Uint8Array(this.areas.map.areas.length);
    return this.scratch;
  }

  /** Cuts the areas anew, by a label for each pixel; `source` has the area that each label is described by. */
  regroup(labels: Int32Array, source?: readonly number[]): void {
    const { map } = this.areas;
    this.replace(regrouped(this.areas, labels, source));
    this.runOf = this.runOf && carried(this.runOf, map, this.areas.map);
  }

  /** Cuts anew after strokes were lifted: a label for each pixel names one of `others`, which are described like these. */
  recut(others: Areas, labels: Int32Array): void {
    const { map } = this.areas;
    const source = Array.from(others.opaque, (_, area) => area);
    this.replace(joinPaints(regrouped(others, labels, source)));
    this.runOf = this.runOf && carried(this.runOf, map, this.areas.map);
    this.pixels = withoutLines(this.areas, this.pixels, this.near);
  }

  /** Lets the areas go on beneath the strokes; false where nothing else is left. */
  settle(): boolean {
    const { areas, at, near } = this;
    const { flat, width, height } = areas.map;
    const labels = beneath(flat, at, width, height);
    if (!labels) return false;
    this.replace(joinPaints(regrouped(areas, labels)));
    this.runOf = this.runOf && carried(this.runOf, areas.map, this.areas.map);
    markNear(at, near, width, height);
    this.pixels = withoutLines(this.areas, this.pixels, near);
    return true;
  }

  private replace(areas: Areas): void {
    this.areas = areas;
    this.measures = null;
    this.pieces = null;
  }
}

const workMax = 6e7;
