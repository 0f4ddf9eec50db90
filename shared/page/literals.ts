/** A value as people write it in code. It runs in the server and in the browser, so that both write the same. */

export type LiteralLanguage = "bash" | "typescript" | "python";

export type LiteralValue = string | number | boolean;

/** A piece of code; `isValue` for what came from a form. */
interface LiteralPart {
  readonly text: string;
  readonly isValue: boolean;
}

/**
 * An object in the language, a line a member. In `bash` it is JSON for a place between single quotes: whatever a value holds, the
 * shell takes nothing of it for its own.
 */
export function objectLiteral(
  values: Readonly<Record<string, LiteralValue>>,
  language: LiteralLanguage,
  indent = "",
): readonly LiteralPart[] {
  const entries = Object.entries(values);
  if (entries.length === 0) return [{ text: "{}", isValue: false }];
  const members = entries.flatMap(([name, value], at): LiteralPart[] => [
    { text: `${at > 0 ? "," : ""}\n${indent}  ${nameIn(name, language)}: `, isValue: false },
    { text: valueIn(value, language), isValue: true },
  ]);
  const end = language === "bash" ? "\n" : ",\n";
  return [{ text: "{", isValue: false }, ...members, { text: `${end}${indent}}`, isValue: false }];
}

function nameIn(name: string, language: LiteralLanguage): string {
  if (language === "typescript" && /^[A-Za-z_$][\w$]*$/.test(name)) return name;
  return valueIn(name, language);
}

function valueIn(value: LiteralValue, language: LiteralLanguage): string {
  if (language === "python" && typeof value === "boolean") return value ? "True" : "False";
  const json = JSON.stringify(value);
  return language === "bash" ? json.replaceAll("'", "'\\''") : json;
}
