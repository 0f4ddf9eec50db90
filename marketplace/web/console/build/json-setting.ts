/**
 * What was written in the box of a setting that may be any JSON: the JSON that it is, or else the text itself. A number with more
 * digits than JavaScript keeps, and a quoted text, stay as they were written.
 */
export function jsonWritten(text: string): unknown {
  const value = parsed(text);
  if (value === undefined) return text;
  return typeof value !== "string" || needsQuotes(value) ? value : text;
}

/** What stands in that box for a value, so that `jsonWritten` reads the same value from it. */
export function jsonShown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value !== "string" || needsQuotes(value) ? JSON.stringify(value, undefined, 2) : value;
}

/** A text that would be read as something else. An empty box says nothing, and a form posts no lone `\r` and no first line feed. */
function needsQuotes(text: string): boolean {
  return text === "" || /\r|^\n/.test(text) || jsonWritten(text) !== text;
}

/** Undefined for what is no JSON, or would lose digits. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return numbersIn(text).every(isKept) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Numbers of a text that is JSON, as they are written there. */
function numbersIn(json: string): string[] {
  return json.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [];
}

/** Whether JavaScript keeps every digit of a number that is written in JSON. */
export const isKept = (number: string) => decimal(number) === decimal(String(Number(number)));

/** One form for `1.50`, `15e-1` and `1.5`. */
function decimal(number: string): string {
  const [, sign, whole = "", part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const kept = withoutEndZeros(digits);
  return kept === "" ? "0" : `${sign}${kept}e${Number(power) - part.length + digits.length - kept.length}`;
}

/** One pass from the end: an expression would begin anew at each zero, for minutes where there are a million. */
function withoutEndZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
