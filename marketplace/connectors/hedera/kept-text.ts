import { refuseInput } from "../refusal.ts";
import { type Filling, fillText } from "../template.ts";

/**
 * The bytes of a filled template, which stay on the ledger for good. Throws RefusalError for half of a surrogate pair: in UTF-8 it
 * would become another character than was given.
 */
export function bytesToKeep(template: string, filling: Filling): Buffer {
  const text = fillText(template, filling);
  if (/\p{Surrogate}/u.test(text)) {
    throw refuseInput(template, "invalid_value", "The text holds half of a surrogate pair, which cannot be written.");
  }
  return Buffer.from(text, "utf8");
}
