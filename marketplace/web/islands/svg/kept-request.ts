/** A drawing that was asked for with an account's credits. Under one name it is made and charged once. */
export interface KeptRequest {
  readonly name: string;
  /** The digest of what is asked for, whatever it may cost. */
  readonly of: string;
  /** The file that is traced, as its person calls it. */
  readonly fileName?: string;
  /** Undefined where it was too large to be kept. */
  readonly body?: string;
}

/**
 * The last request of an account whose end is not known: it lies in the tab's own storage, so that a reload of the page
 * asks for the same drawing, and not for a second one.
 */
export class RequestUnderWay {
  readonly #key: string;
  /** Where the browser keeps nothing. */
  #here: KeptRequest | undefined;

  constructor(account: string) {
    this.#key = `drawing under way ${account}`;
  }

  keep(request: KeptRequest & { readonly body: string }): void {
    this.#here = request;
    const { body: _, ...small } = request;
    if (!this.#store(request)) this.#store(small);
  }

  find(): KeptRequest | undefined {
    try {
      const kept = sessionStorage.getItem(this.#key);
      return kept === null ? this.#here : (JSON.parse(kept) as KeptRequest);
    } catch {
      return this.#here;
    }
  }

  forget(): void {
    this.#here = undefined;
    try {
      sessionStorage.removeItem(this.#key);
    } catch {
      // Where nothing can be kept, nothing was.
    }
  }

  #store(request: KeptRequest): boolean {
    try {
      sessionStorage.removeItem(this.#key);
      sessionStorage.setItem(this.#key, JSON.stringify(request));
      return true;
    } catch {
      return false;
    }
  }
}

/** The same for what asks for the same. */
export async function digestOf(asked: object): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(asked)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
