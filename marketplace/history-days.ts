/** Runs are kept for so long, with what they were asked and what they gave. */
export const historyDays = 30;
