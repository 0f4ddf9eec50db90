/**
 * Rows as CSV (RFC 4180). What callers wrote ends in other people's spreadsheets, which run a cell that begins like a formula:
 * such a cell begins with an apostrophe instead.
 */
export function csvOf(heads: readonly string[], rows: Rows): string {
  return csvRows([heads, ...rows]);
}

/** The rows alone, for a file that is made in pieces. */
export function csvRows(rows: Rows): string {
  return rows
    .map((row) =>
      row
        .map((cell) => cellOf(cell ?? ""))
        .join(",")
        .concat("\r\n"),
    )
    .join("");
}

type Rows = readonly (readonly (string | null)[])[];

function cellOf(text: string): string {
  const harmless = /^\s*[=+\-@|%]|^[\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
