import { type FieldRule, isFieldType, rulesOf } from "./form-draft.ts";

/** The id of the control of a path in the definition. */
export const idAt = (path: string) => `at-${path.replaceAll(".", "-")}`;

const plainFields = new Set(["name", "label", "type", "required", "description", "default", "example"]);

/** Which element of the page a check's path is corrected in: its control, or else the part that it belongs to. */
export function anchorOf(field: string, fields: ReadonlyArray<Readonly<Record<string, unknown>>>): string {
  const [first = "", second, third] = field.split(".");
  if (first === "secrets") return "at-secrets";
  if (first === "fields") {
    if (second === undefined || !fields[Number(second)]) return "at-fields";
    const { type } = fields[Number(second)] ?? {};
    const hasControl =
      third !== undefined &&
      (plainFields.has(third) || (isFieldType(type) && rulesOf[type].includes(third as FieldRule)));
    return hasControl ? idAt(`fields.${second}.${third}`) : idAt(`fields.${second}`);
  }
  if (first === "settings")
    return second === undefined
      ? "at-settings"
      : idAt(`settings.${second}${third && second === "rule" ? `.${third}` : ""}`);
  return idAt(first);
}
