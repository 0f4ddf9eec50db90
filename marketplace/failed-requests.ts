import type { FailedRequest } from "../shared/http.ts";
import type { Queryable } from "../shared/postgres.ts";
import type { BackgroundWork } from "./background-work.ts";

export const failedRequestsKeptDays = 30;
/** A copy writes down no more in a minute: while all fails, the log says why. */
const notedPerMinute = 20;

/** Writes down what answered with a fault of our own, so that an operator finds it by the id that its caller was shown. */
export function noteFailedRequests({ db, backgroundWork }: Needs): (failed: FailedRequest) => void {
  let minute = 0;
  let noted = 0;
  return ({ id, method, path, status, cause }) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) [minute, noted] = [now, 0];
    if (noted >= notedPerMinute) return;
    noted += 1;
    const said = [
      id,
      method.slice(0, 10),
      path.replaceAll("\0", "").slice(0, 300),
      status,
      kindOf(cause),
      placeOf(cause),
    ];
    backgroundWork.detach(db.query(insert, said));
  };
}

const insert =
  "insert into failed_requests (request_id, method, path, status, kind, place) values ($1, $2, $3, $4, $5, $6) on conflict do nothing";

/** `TypeError`, `DatabaseError 23505`. */
function kindOf(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause;
  const { code } = cause as { code?: unknown };
  return `${cause.name}${typeof code === "string" ? ` ${code}` : ""}`.replaceAll(/[^\w .-]/g, "").slice(0, 100);
}

/** The first line of ours that the error came through: `marketplace/runs/own-run.js:34`. */
function placeOf(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  const lines = (cause.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !line.includes("node_modules"));
  for (const line of lines) {
    const [, place] = /\/((?:marketplace|shared)\/[\w./-]{1,150}:\d{1,6})/.exec(line) ?? [];
    if (place) return place;
  }
  return null;
}

/** By the id that the answer carried; a caller can choose it, so it may stand for several. The newest ten. */
export async function findFailedRequests(db: Queryable, requestId: string): Promise<FoundFailure[]> {
  const { rows } = await db.query<Omit<FoundFailure, "at"> & { at: Date }>(
    `select request_id, at, method, path, status, kind, place from failed_requests
     where request_id = $1 order by at desc limit 10`,
    [requestId],
  );
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}

export interface FoundFailure {
  readonly request_id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The error's name and code. */
  readonly kind: string;
  /** Where in the code; null where that is not known. */
  readonly place: string | null;
}

interface Needs {
  readonly db: Queryable;
  readonly backgroundWork: BackgroundWork;
}
