import type { RequestHandler } from "express";
import { LargeAnswers } from "../../shared/large-answers.ts";
import { limitUnread } from "../../shared/unread-limit.ts";

/** For answers with a run that can be asked for again: its output may be megabytes. */
export const runAnswers = new LargeAnswers();

/** For routes that run something: what it gives is answered whatever was not read yet. */
export const refuseUnread: RequestHandler = limitUnread();
