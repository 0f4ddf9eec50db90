import type { Database } from "../shared/postgres.ts";
import { within } from "../shared/within.ts";

const answerWithinMs = 2_000;
const answerKeptMs = 1_000;

/** The health as asked of the database within the last second, however often it is asked for. */
export function cachedHealth(db: Database): () => Promise<Health> {
  let asked: { readonly at: number; readonly answer: Promise<Health> } | undefined;
  return () => {
    if (!asked || Date.now() - asked.at > answerKeptMs) asked = { at: Date.now(), answer: health(db) };
    return asked.answer;
  };
}

/** Whether the database answers within two seconds, without which nothing works. */
async function health(db: Database): Promise<Health> {
  const database = await within(answerWithinMs, db.query("select 1")).then(
    () => true,
    () => false,
  );
  return { status: database ? "ok" : "degraded", database, time: new Date().toISOString() };
}

export interface Health {
  readonly status: "ok" | "degraded";
  readonly database: boolean;
  /** ISO 8601. */
  readonly time: string;
}
