/** The words by which a text is found. Texts and searches are cut into words alike. */
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
