/** `--name=value` of the command line. */
export function optionOf(name: string): string | undefined {
  return process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
}

/** One of `choices`, or undefined where the option is left out. */
export function choiceOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
  const given = optionOf(name);
  if (given === undefined) return undefined;
  const choice = choices.find((one) => one === given);
  if (choice === undefined) throw new UnknownChoiceError(`--${name}= is one of ${choices.join(", ")}`);
  return choice;
}

/** What the command line asks for does not exist. */
export class UnknownChoiceError extends Error {
  override readonly name = "UnknownChoiceError";
}

export function tableOf(header: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return `${[header, widths.map((width) => "─".repeat(width)), ...rows].map(line).join("\n")}\n`;
}
