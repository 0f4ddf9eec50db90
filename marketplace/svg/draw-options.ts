/** What may be asked of a drawing from words; the first of a list is the usual one. */
export const drawStyles = ["illustration", "icon", "logo", "pattern", "pixel"] as const;
export const drawAspects = ["square", "landscape", "portrait", "wide"] as const;
/** How many colours may be asked for. */
export const drawColours = { min: 2, max: 64 } as const;
export const promptLengthMax = 2_000;
export const seedMax = 2_147_483_647;
