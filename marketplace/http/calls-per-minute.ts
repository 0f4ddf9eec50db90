/** Calls of a key that was made without a limit of its own. */
export const usualCallsPerMinute = 60;
/** Calls of a person who is signed in. */
export const sessionCallsPerMinute = 300;
/** Calls among those that change something, so that nothing an account keeps grows faster. */
export const changesPerMinute = 60;
/** Calls of an operator, in the operators' part. */
export const operatorCallsPerMinute = 120;
