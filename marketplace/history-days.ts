/** Runs are kept for so long, with what they were asked and what they gave. */
export const historyDays = 30;

/** What is counted by the day (credits that a key spent, what models cost, which alerts were sent) is kept for so long: a cap may be of a calendar month. */
export const dayCountsKeptDays = 40;
