import type { EnvReader } from "../../shared/env.ts";
import { readS3, type S3Config } from "../../shared/s3.ts";
import { listedDays } from "../discovery/listing.ts";
import { refusalDays } from "../settlements/refusals.ts";

/** What sellers are told of their payments goes back `listedDays`, and refusals are kept for `refusalDays`: so long everything is in the database. */
export const keptDaysMin = Math.max(listedDays, refusalDays) + 1;

export interface ArchiveConfig {
  readonly bucket: S3Config;
  /** Whole days after which ended payments leave the database; undefined: none leave, and those that left before can be read. */
  readonly afterDays: number | undefined;
}

/** Undefined where there is no bucket for it. */
export function readArchive(env: EnvReader): ArchiveConfig | undefined {
  const bucket = readS3(env, "ARCHIVE");
  const afterDays = env.integer("ARCHIVE_AFTER_DAYS", 0, { max: 36_500 });
  if (afterDays > 0 && afterDays < keptDaysMin) {
    env.problem(`ARCHIVE_AFTER_DAYS must be 0 (never) or at least ${keptDaysMin}`, 0);
  }
  if (afterDays > 0 && !bucket) env.problem("ARCHIVE_S3_ENDPOINT is missing: ARCHIVE_AFTER_DAYS needs a bucket", 0);
  return bucket && { bucket, afterDays: afterDays === 0 ? undefined : afterDays };
}
