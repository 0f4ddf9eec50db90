/** Other words for the same task, to search for where no agent has the word itself. */
export function synonymsOf(word: string): readonly string[] {
  const group = groups.find((words) => words.includes(word) || words.includes(word.replace(/s$/, "")));
  return group?.filter((other) => other !== word && `${other}s` !== word) ?? [];
}

/** In the singular, and one group at most for each word. */
const groups: ReadonlyArray<readonly string[]> = [
  ["image", "picture", "photo", "img", "illustration"],
  ["generate", "create", "make", "draw", "generator"],
  ["summary", "tldr", "abstract", "shorten"],
  ["translate", "localise", "localize", "translator"],
  ["audit", "verify", "review", "inspect"],
  ["send", "transfer", "payout"],
  ["voice", "speech", "audio"],
  ["find", "search", "look"],
];
