/** A copy of a JSON value with the values at dotted paths replaced; `undefined` removes the field. */
export function edited<T>(value: T, changes: Readonly<Record<string, unknown>>): T {
  const copy = structuredClone(value);
  for (const [path, replacement] of Object.entries(changes)) {
    const names = path.split(".");
    // biome-ignore lint/suspicious/noExplicitAny: the path is data
    const parent = names.slice(0, -1).reduce((at: any, name) => at[name], copy);
    const last = names.at(-1) as string;
    if (replacement === undefined) delete parent[last];
    else parent[last] = typeof replacement === "function" ? replacement(parent[last]) : replacement;
  }
  return copy;
}
