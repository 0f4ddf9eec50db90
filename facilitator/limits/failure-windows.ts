/*
 * Within what times failures of a payer are counted, as PostgreSQL reads them. A claim counts them (settlements/store.ts), and what
 * /verify says was read a moment ago (payer-cooldowns.ts).
 */
export const failuresWithin = "10 minutes";
export const failuresOfADayWithin = "1 day";
