/** A line that is in both texts, only in the new one, or only in the old one. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/** Lines compared with one another, at most: beyond, what differs is shown as taken away and put there whole. */
const comparedMax = 4_000_000;

/** How one text became another, by lines, with as few changes as can be. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = changes(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - end).map(same)];
}

/** The changed lines with some around them; a gap is an empty list's place. */
export function nearChanges(lines: readonly DiffLine[], around = 2): DiffLine[][] {
  const groups: DiffLine[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  lines.forEach((line, at) => {
    const isNear = lines.slice(Math.max(0, at - around), at + around + 1).some(({ sign }) => sign !== " ");
    if (!isNear) return;
    if (at > last + 1) groups.push([]);
    groups.at(-1)!.push(line);
    last = at;
  });
  return groups;
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const same = (text: string): DiffLine => ({ sign: " ", text });

function changes(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > comparedMax) {
    return [...old.map((text) => ({ sign: "-" as const, text })), ...now.map((text) => ({ sign: "+" as const, text }))];
  }
  const common = commonLengths(old, now);
  const width = now.length + 1;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [down, right] = [common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0];
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(same(old[i] as string));
      i += 1;
      j += 1;
    } else if (i < old.length && (j === now.length || down >= right)) {
      lines.push({ sign: "-", text: old[i] as string });
      i += 1;
    } else {
      lines.push({ sign: "+", text: now[j] as string });
      j += 1;
    }
  }
  return lines;
}

/** By position in both: how many lines the rests have in common. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  return common;
}
