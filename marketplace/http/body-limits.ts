import type { BodyLimits } from "../../shared/request-body.ts";

/** What each kind of body may hold. */
export const runBody: BodyLimits = { bytesMax: 2_097_152 };
export const smallBody: BodyLimits = { bytesMax: 16_384 };
/** Ten megabytes in base64, and the rest of the request. */
export const imageBody: BodyLimits = { bytesMax: 15_000_000 };
/** Bodies that are kept in the database: texts that PostgreSQL cannot hold are refused. */
export const settingsBody: BodyLimits = { bytesMax: 16_384, storable: true };
export const definitionBody: BodyLimits = { bytesMax: 262_144, storable: true };
