import { commonLines } from "./common-lines.ts";

/** A line that is in both texts, only in the new one, or only in the old one. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/** How one text became another, by lines: with as few changes as can be, unless they differ a great deal. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = changes(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - end).map(same)];
}

/** The changed lines with some around them, the first `most` of these; a gap is an empty list's place. */
export function nearChanges(lines: readonly DiffLine[], { around = 2, most = 2_000 } = {}): DiffLine[][] {
  const changed = changedAt(lines);
  const groups: DiffLine[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  let next = 0;
  let shown = 0;
  for (const [at, line] of lines.entries()) {
    // The first change that is not too far behind.
    while (next < changed.length && changed[next]! < at - around) next += 1;
    if (shown === most || next === changed.length) break;
    if (changed[next]! > at + around) continue;
    if (at > last + 1) groups.push([]);
    groups.at(-1)!.push(line);
    last = at;
    shown += 1;
  }
  return groups;
}

export function changedAt(lines: readonly DiffLine[]): number[] {
  const changed: number[] = [];
  for (const [at, { sign }] of lines.entries()) if (sign !== " ") changed.push(at);
  return changed;
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const same = (text: string): DiffLine => ({ sign: " ", text });

/** Between two lines that stay, what is taken away comes before what is put there. */
function changes(old: readonly string[], now: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...commonLines(old, now), [old.length, now.length] as const]) {
    for (; i < x; i += 1) lines.push({ sign: "-", text: old[i] as string });
    for (; j < y; j += 1) lines.push({ sign: "+", text: now[j] as string });
    if (x < old.length) lines.push(same(old[x] as string));
    i = x + 1;
    j = y + 1;
  }
  return lines;
}
