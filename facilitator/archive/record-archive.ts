import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Bucket } from "../../shared/s3.ts";
import type { ArchiveObject } from "./objects.ts";
import { type ArchivedRecord, digestOf, isBefore, type Place, placeOf, unpackRecords } from "./record-file.ts";

/** Objects that one question reads, and more only where more networks than that are asked for together. */
const readMin = 6;
/** Kept unpacked, for the next page goes on in the same. */
const rememberedMax = 8;
const readingMax = 4;
const waitingMax = 60;

/** The archive's part of one page of the record. */
export interface Looked {
  readonly records: readonly ArchivedRecord[];
  /** All that is newer than this, or is this, has been looked at; undefined: there is nothing older. */
  readonly edge: Place | undefined;
  /** Why it went no further, where an object was not to be read. */
  readonly away?: ArchiveAwayError | undefined;
}

/** 503: what is asked for is in the archive, which cannot be read at the moment. */
export class ArchiveAwayError extends ApiError {
  constructor(cause: unknown) {
    const message = "Records of that time are in an archive that cannot be read at the moment; try again shortly.";
    super("unavailable", message, { cause, headers: { "retry-after": "5" } });
  }
}

/** Picks what a page asks for. */
export type PickRecords = (records: readonly ArchivedRecord[]) => Promise<readonly ArchivedRecord[]>;

/** How many objects one question may read: with one more than there are networks, each page comes further than the one before. */
export function readMax(networks: number): number {
  return Math.max(readMin, networks + 1);
}

/** Records that left the database, read from the bucket they are in. A question reads a few objects, and says how far it came. */
export class RecordArchive {
  readonly #bucket: Bucket | undefined;
  readonly #log: Log;
  readonly #remembered = new Map<string, Promise<readonly ArchivedRecord[]>>();
  #reading = 0;
  readonly #waiting: Array<() => void> = [];

  /** Without a bucket nothing can be read. */
  constructor(bucket: Bucket | undefined, log: Log) {
    this.#bucket = bucket;
    this.#log = log;
  }

  get isOpen(): boolean {
    return this.#bucket !== undefined;
  }

  /**
   * Looks through `objects`, the newest first, until `wanted` records that `pick` picks are found, `max` objects are read, or one is
   * not to be read.
   */
  async look(
    objects: readonly ArchiveObject[],
    { max, wanted, pick }: { readonly max: number; readonly wanted: number; readonly pick: PickRecords },
  ): Promise<Looked> {
    let found: ArchivedRecord[] = [];
    for (let read = 0; ; read += 1) {
      const edge = edgeBefore(objects[read]);
      const certain = edge ? found.filter((record) => !isBefore(placeOf(record), edge)) : found;
      if (!edge || read === max || certain.length >= wanted) return { records: certain, edge };
      const records = await this.#read(objects[read]!).catch(ifAway);
      if (records instanceof ArchiveAwayError) return { records: certain, edge, away: records };
      found = found.concat(await pick(records));
    }
  }

  async #read(object: ArchiveObject): Promise<readonly ArchivedRecord[]> {
    const known = this.#remembered.get(object.name);
    const records = known ?? this.#load(object);
    this.#remembered.delete(object.name);
    this.#remembered.set(object.name, records);
    for (const name of this.#remembered.keys()) {
      if (this.#remembered.size <= rememberedMax) break;
      this.#remembered.delete(name);
    }
    try {
      return await records;
    } catch (error) {
      if (this.#remembered.get(object.name) === records) this.#remembered.delete(object.name);
      throw error;
    }
  }

  async #load(object: ArchiveObject): Promise<readonly ArchivedRecord[]> {
    try {
      await this.#begin();
      return await readObject(this.#bucket, object).finally(() => this.#end());
    } catch (cause) {
      this.#log.error({ err: cause, object: object.name }, "an object of the archive was not read");
      throw new ArchiveAwayError(cause);
    }
  }

  /** A few are read at a time. */
  async #begin(): Promise<void> {
    if (this.#reading < readingMax) {
      this.#reading += 1;
      return;
    }
    if (this.#waiting.length >= waitingMax) throw new Error("too many wait for the archive");
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#reading -= 1;
  }
}

/** Whole and as it was put. Throws otherwise. */
export async function readObject(
  bucket: Bucket | undefined,
  { name, bytes, sha256, records: count }: ArchiveObject,
): Promise<readonly ArchivedRecord[]> {
  const packed = await bucket?.read(name, bytes);
  if (!packed) throw new Error(bucket ? `the bucket has no ${name}` : "there is no bucket");
  if (packed.length !== bytes || !digestOf(packed).equals(sha256)) throw new Error(`${name} is not what was put there`);
  const records = await unpackRecords(packed);
  if (records.length !== count) throw new Error(`${name} holds ${records.length} records instead of ${count}`);
  return records;
}

function ifAway(error: unknown): ArchiveAwayError {
  if (error instanceof ArchiveAwayError) return error;
  throw error;
}

/** The place right after an object's last record: all newer records are at or after it. */
function edgeBefore(object: ArchiveObject | undefined): Place | undefined {
  return object && { micros: object.last.micros, id: object.last.id + 1n };
}
