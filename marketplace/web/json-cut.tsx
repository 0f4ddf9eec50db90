/** @jsxRuntime automatic @jsxImportSource preact */

/** A page shows no more characters of one value; the API answers all of it. */
export const jsonShownMax = 60_000;

/** Says that not all of a value is shown. */
export function JsonCut() {
  return <p class="small dim">This is its beginning; the API answers all of it.</p>;
}
