const yearSeconds = 31_536_000;

/** Changes between light and dark; the server reads the choice from the cookie, so that the next page does not flash. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser
  document.cookie = `theme=${theme}; path=/; max-age=${yearSeconds}; samesite=lax${secure}`;
}
