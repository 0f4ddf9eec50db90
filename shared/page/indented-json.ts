/** JSON as people read it. */
interface Indented {
  readonly text: string;
  /** It is the beginning of more. */
  readonly isCut: boolean;
}

/**
 * A JSON value, a member a line, in at most `most` characters. No more of it is written than that: where it is nested deep, the indents
 * alone make a hundred times of it. It runs in the server and in the browser, so that both write the same.
 */
export function indentedJson(value: unknown, most: number): Indented {
  const writer = new Writer(most);
  writer.write(value, "\n");
  return { text: writer.text.slice(0, most), isCut: writer.isFull };
}

/** All of a value: as people read it, or without lines and indents where these would make more than `most` characters of it. */
export function readableJson(value: unknown, most: number): string {
  const { text, isCut } = indentedJson(value, most);
  return isCut ? JSON.stringify(value) : text;
}

class Writer {
  readonly #most: number;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get text(): string {
    return this.#parts.join("");
  }

  get isFull(): boolean {
    return this.#length > this.#most;
  }

  write(value: unknown, line: string): void {
    if (Array.isArray(value)) this.#writeAll(value, "[]", line, (item, inner) => this.write(item, inner));
    else if (typeof value === "object" && value !== null) {
      this.#writeAll(Object.entries(value), "{}", line, ([name, member], inner) => {
        this.#add(`${this.#plain(name)}: `);
        this.write(member, inner);
      });
    } else this.#add(this.#plain(value));
  }

  #writeAll<T>(items: readonly T[], around: "[]" | "{}", line: string, write: (item: T, inner: string) => void): void {
    const inner = `${line}  `;
    this.#add(around.charAt(0));
    for (const [at, item] of items.entries()) {
      if (this.isFull) return;
      this.#add(at === 0 ? inner : `,${inner}`);
      write(item, inner);
    }
    this.#add(`${items.length > 0 ? line : ""}${around.charAt(1)}`);
  }

  /** Of a text that is too long, enough to be too long still. */
  #plain(value: unknown): string {
    return JSON.stringify(typeof value === "string" ? value.slice(0, this.#most + 1) : value);
  }

  #add(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
  }
}
