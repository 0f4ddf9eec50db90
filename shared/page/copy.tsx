/** @jsxRuntime automatic @jsxImportSource preact */
import { Icon } from "./icon.tsx";

/**
 * Copies a text. An island makes it work; without JavaScript it is not shown. `of` is the id of an element whose text it takes, `from`
 * the address of one that it asks for.
 */
export function Copy({ label, text, of, from }: { label: string; text?: string; of?: string; from?: string }) {
  return (
    <button
      class="copy"
      type="button"
      aria-label={label}
      title={from && label}
      data-copy={text ?? ""}
      data-copy-of={of}
      data-copy-from={from}
      hidden
    >
      <Icon name="copy" />
      <Icon name="check" />
    </button>
  );
}

const tailLength = 6;

/** A hash, an address, an id: cut in its middle where there is no room; copying gives the whole. */
export function Hash({ value, label, href, short = false }: HashProps) {
  const head = value.slice(0, -tailLength);
  const parts = (
    <>
      <span class="hash-a">{head}</span>
      <span class="hash-b">{value.slice(-tailLength)}</span>
    </>
  );
  return (
    <span class={short ? "hash hash-short" : "hash"}>
      {href ? (
        <a class="link" href={href} title={value}>
          <span class="hash">{parts}</span>
        </a>
      ) : (
        <span title={value}>{parts}</span>
      )}
      <Copy label={label} text={value} />
    </span>
  );
}

interface HashProps {
  readonly value: string;
  /** What copying it does: `Copy transaction`. */
  readonly label: string;
  readonly href?: string | undefined;
  readonly short?: boolean;
}
