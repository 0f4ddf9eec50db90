/** What stands where there is no figure. */
export const noFigure = "–";

/**
 * `1,284`. Tables of a year have thousands of figures, and a format of `Intl` takes ten times as long. In a browser the first
 * one takes as long as all else that a page's script does.
 */
export function figures(value: number | bigint): string {
  if (value < 0) return `-${figures(-value)}`;
  if (typeof value === "number" && !Number.isSafeInteger(value)) return value.toLocaleString("en-US", wholeNumber);
  const digits = String(value);
  let grouped = "";
  for (let at = digits.length; at > 0; at -= 3) {
    grouped = digits.slice(Math.max(0, at - 3), at) + (grouped === "" ? "" : `,${grouped}`);
  }
  return grouped;
}

const wholeNumber = { maximumFractionDigits: 0 };
// Pure, so that it is left out of a page's script that does not use it.
const shortFormat = /* @__PURE__ */ new Intl.NumberFormat("en-US", {
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** `12.4k`. */
export function shortFigures(value: number | bigint): string {
  return shortFormat.format(value).toLowerCase();
}

/** `99.6 %` of a share between 0 and 1, cut and not rounded, so that only all is 100. */
export function percent(share: number | undefined | null): string {
  if (share === undefined || share === null) return noFigure;
  return `${(Math.floor(share * 1_000) / 10).toFixed(share === 1 || share === 0 ? 0 : 1)} %`;
}

/** `38 ms`, `2.4 s`, `41 s`, `3 min 5 s`. */
export function duration(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return noFigure;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
