import type { z } from "zod";

/** Control characters, halves of characters, and those that turn the direction of what stands beside them: a price, another's name. */
const hidden = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const unseen = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export const hasHidden = (text: string): boolean => hidden.test(text);

/** A line that others see: no character in it is hidden, and at least one is visible. */
export function shownLine<S extends z.ZodType<string>>(shape: S): S {
  return shape.refine((text) => !hasHidden(text), "must have no characters that are not shown").refine(isSeen, toSee);
}

/** A text of several lines that others see, under the rule of shownLine. */
export function shownText<S extends z.ZodType<string>>(shape: S): S {
  const isClear = (text: string) => !hasHidden(text.replaceAll(/[\t\r\n]/g, " "));
  return shape.refine(isClear, "must have no characters that are not shown").refine(isSeen, toSee);
}

const toSee = "must have a character that is shown";
const isSeen = (text: string) => text.trim() === "" || text.replaceAll(unseen, "") !== "";
