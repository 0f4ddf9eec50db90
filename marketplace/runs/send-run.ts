import type { Request, Response } from "express";
import { LargeAnswers } from "../../shared/large-answers.ts";

const answers = new LargeAnswers();

/** Answers with a run, whose output may be megabytes. Throws ApiError 429 or 503 while too many of those are on their way. */
export function sendRun(request: Request, response: Response, run: object): void {
  answers.send(request, response, run);
}
