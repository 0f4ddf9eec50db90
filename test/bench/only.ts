const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length);

/** Whether rows of this title are asked for: all of them, unless `--only=` names a part of their titles. */
export function isAsked(title: string): boolean {
  return only === undefined || title.toLowerCase().includes(only.toLowerCase());
}
