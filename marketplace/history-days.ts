/** How long runs are kept, with their inputs and results. */
export const historyDays = 30;

/** How long daily counts are kept (credits that a key spent, the cost of models, the alerts sent): a cap may be of a calendar month. */
export const dayCountsKeptDays = 40;
