/** Of a key that was made without a limit of its own. */
export const usualCallsPerMinute = 60;
/** Of a person who is signed in, whatever they ask. */
export const sessionCallsPerMinute = 300;
/** Of those, what changes something: whatever an account keeps grows no faster. */
export const changesPerMinute = 60;
/** Of an operator, in the operators' part. */
export const operatorCallsPerMinute = 120;
