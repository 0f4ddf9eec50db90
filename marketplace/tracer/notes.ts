/** What a caller should know of a trace beside its score. */
export interface Notes {
  /** The colour of the background that was removed, or that there was none; where that was asked for. */
  readonly background?: string;
  /** The style that would have given the very same drawing. */
  readonly same_as?: "auto";
  /** What to do where vector shapes do the picture no justice. */
  readonly advice?: string;
}

export const noBackground = "none found";

/** The notes as a page shows them; nothing where there are none. */
export function notesInWords({ background, same_as, advice }: Notes): string {
  return [
    background === noBackground && "No background of one colour was found, so none was removed.",
    same_as && "Style auto gives the same drawing.",
    advice,
  ]
    .filter(Boolean)
    .join(" ");
}
