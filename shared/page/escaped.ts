/** A text as it stands in HTML, in an attribute's double quotes or between elements. */
export function escaped(text: string): string {
  return needsEscape.test(text)
    ? text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
    : text;
}

const needsEscape = /[&<"]/;
