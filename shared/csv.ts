/**
 * Rows as CSV (RFC 4180). What callers wrote ends in other people's spreadsheets, which run a cell that begins like a formula:
 * such a cell begins with an apostrophe instead.
 */
export function csvOf(heads: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  return [heads, ...rows]
    .map((row) => row.map((cell) => cellOf(cell ?? "")).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function cellOf(text: string): string {
  const harmless = /^\s*[=+\-@|%]|^[\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
