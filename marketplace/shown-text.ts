import type { z } from "zod";
import { ApiError } from "../shared/errors.ts";

/** Control characters, halves of characters, and those that turn the direction of what stands beside them: a price, another's name. */
const hidden = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const unseen = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export const hasHidden = (text: string): boolean => hidden.test(text);

/** A line that others see: no character in it is hidden, and at least one is visible. */
export function shownLine<S extends z.ZodType<string>>(shape: S): S {
  return shape.refine((text) => !hasHidden(text), noneHidden).refine(isSeen, toSee);
}

/** A text of several lines that others see, under the rule of shownLine. */
export function shownText<S extends z.ZodType<string>>(shape: S): S {
  const isClear = (text: string) => !hasHidden(text.replaceAll(/[\t\r\n]/g, " "));
  return shape.refine(isClear, noneHidden).refine(isSeen, toSee);
}

/** A name that somebody gives to something of their own, under the rule of shownLine: lines and spaces become single spaces. 422 naming "name". */
export function readName(text: string, lengthMax: number): string {
  const name = text.normalize("NFC").replaceAll(/\s+/g, " ").trim();
  if (name === "" || name.length > lengthMax) throw wrongName(`must have 1 to ${lengthMax} characters`);
  if (hasHidden(name)) throw wrongName(noneHidden);
  if (!isSeen(name)) throw wrongName(toSee);
  return name;
}

const noneHidden = "must have no characters that are not shown";
const toSee = "must have a character that is shown";
const isSeen = (text: string) => text.trim() === "" || text.replaceAll(unseen, "") !== "";

function wrongName(problem: string): ApiError {
  return new ApiError("invalid_value", `"name" ${problem}.`, { body: { field: "name" } });
}
