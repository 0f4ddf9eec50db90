/** What one page of a list has, whatever it lists. */
interface Page {
  readonly cursor: string | null;
}

/**
 * A list, asked for page by page as it is read: `for await (const agent of market.list())`. `await list.first()` is one page
 * with what it says besides its rows.
 */
export class Pages<P extends Page, Row> implements AsyncIterable<Row> {
  readonly #read: (cursor: string | undefined) => Promise<P>;
  readonly #rows: (page: P) => readonly Row[];

  constructor(read: (cursor: string | undefined) => Promise<P>, rows: (page: P) => readonly Row[]) {
    this.#read = read;
    this.#rows = rows;
  }

  first(): Promise<P> {
    return this.#read(undefined);
  }

  /** Page after page. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      // A page that named itself as the next would never end.
      cursor = page.cursor === cursor ? undefined : (page.cursor ?? undefined);
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* this.#rows(page);
  }
}
