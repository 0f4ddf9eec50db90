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

/** What the command line says beyond `options`, each as `name=…`. */
export function unknownOptions(options: readonly string[]): readonly string[] {
  const names = options.map((option) => option.split("=")[0]);
  return process.argv.slice(3).filter((word) => !names.includes(/^--([^=]+)=/.exec(word)?.[1]));
}

/** A number that the command line may give. */
export function numberOf(name: string, usual: number): number {
  const number = Number(optionOf(name) ?? usual);
  if (!Number.isFinite(number) || number < 0) throw new UnknownChoiceError(`--${name}= is a number, 0 or more`);
  return number;
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
