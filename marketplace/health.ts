import type { Request, Response } from "express";
import type { Context } from "./context.ts";

const answerWithinMs = 2_000;

/** GET /health: 200 when the database answers, 503 when it does not. */
export function health({ db }: Context) {
  return async (_request: Request, response: Response): Promise<void> => {
    const late = new Promise<false>((resolve) => setTimeout(resolve, answerWithinMs, false).unref());
    const answered = db.query("select 1").then(
      () => true,
      () => false,
    );
    const ok = await Promise.race([answered, late]);
    response
      .status(ok ? 200 : 503)
      .json({ status: ok ? "ok" : "degraded", database: ok, time: new Date().toISOString() });
  };
}
