import { LargeAnswers } from "../../shared/large-answers.ts";

/** For answers with a run, whose output may be megabytes. */
export const runAnswers = new LargeAnswers();
