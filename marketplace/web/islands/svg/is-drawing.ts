import { chosenValue } from "../dom/fields.ts";

/** Whether words are drawn, not a picture traced. */
export const isDrawing = (form: HTMLFormElement) => chosenValue(form, "make") === "draw";
