import { createHash } from "node:crypto";
import { renderAsync } from "@resvg/resvg-js";
import { ApiError } from "../../../shared/errors.ts";
import { pictureSvg, type Shared } from "./drawing.ts";
import { fonts } from "./font.ts";

export interface PictureFile {
  readonly png: Buffer;
  readonly etag: string;
}

/**
 * Pictures that stand for pages where links to them are shared. Each is drawn once and kept while there is room; few are drawn at the
 * same time, on other threads than the event loop's, and where too many wait a caller is sent away.
 */
export class SharePictures {
  readonly #kept = new Map<string, Promise<PictureFile>>();
  readonly #waiting: Array<() => void> = [];
  #drawing = 0;

  /** Throws ApiError 429 where too many wait. */
  async read(shared: Shared): Promise<PictureFile> {
    const svg = pictureSvg(shared);
    const key = createHash("sha256").update(svg).digest("base64url");
    const picture = this.#kept.get(key) ?? this.#draw(svg, key);
    this.#kept.delete(key);
    this.#kept.set(key, picture);
    picture.catch(() => this.#kept.delete(key));
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as string);
    return picture;
  }

  async #draw(svg: string, key: string): Promise<PictureFile> {
    if (this.#drawing >= drawingMax) await this.#turn();
    else this.#drawing += 1;
    try {
      const drawn = await renderAsync(svg, {
        font: {
          loadSystemFonts: false,
          fontFiles: Object.values(fonts).map(({ path }) => path),
          defaultFontFamily: "Geist",
        },
      });
      return { png: drawn.asPng(), etag: `"${key.slice(0, 22)}"` };
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#drawing -= 1;
    }
  }

  /** Waits until another has ended, and takes its place. */
  #turn(): Promise<void> {
    if (this.#waiting.length >= waitingMax) {
      throw new ApiError("rate_limited", "Too many pictures are being drawn.", { headers: { "retry-after": "5" } });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** About 30 kB each. */
const keptMax = 400;
/** Threads that draw; libuv has four, which look names up and read files too. */
const drawingMax = 1;
const waitingMax = 32;
