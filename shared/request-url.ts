/**
 * The path and the query of a request (`originalUrl`), on a host that means nothing. Never throws: of `//` and `/\`, which lead to the
 * first page, no URL can be made.
 */
export function requestUrl(originalUrl: string): URL {
  return new URL(originalUrl.replace(/^[/\\]+/, "/"), "http://here");
}
