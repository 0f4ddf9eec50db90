/** The words a text is found by. What is searched and what is searched for are cut the same way. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

const searchedMax = 10;

/** The words of a search, as many as are searched for. */
export function searchedWordsOf(query: string): string[] {
  return wordsOf(query).slice(0, searchedMax);
}
