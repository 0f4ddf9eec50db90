import { z } from "zod";

/** What an agent is for, chosen by its creator out of a closed list, in plain words. */
export const categoryNames = {
  writing: "Writing",
  translation: "Translation",
  research: "Research",
  data: "Data",
  code: "Code",
  images: "Images",
  security: "Security",
  finance: "Finance",
  "on-chain": "On chain",
  social: "Social",
  other: "Other",
} as const;

export type Category = keyof typeof categoryNames;
export const categories = Object.keys(categoryNames) as [Category, ...Category[]];

const tagsMax = 5;
const tagLengthMax = 24;

/** A word of the creator's own: lower case, digits and single hyphens. */
export const tagShape = z
  .string()
  .max(tagLengthMax)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be of a-z, 0-9 and single hyphens, such as meeting-notes");

export const tagsShape = z
  .array(tagShape)
  .max(tagsMax)
  .refine((tags) => new Set(tags).size === tags.length, "must differ");
