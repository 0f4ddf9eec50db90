/** @jsxRuntime automatic @jsxImportSource preact */

/** A long name that may be broken behind a mark, and nowhere else. */
export function Breakable({ text, after }: { text: string; after: "." | "_" }) {
  return (
    <>
      {text.split(after).map((part, at) => (
        <>
          {at > 0 && (
            <>
              {after}
              <wbr />
            </>
          )}
          {part}
        </>
      ))}
    </>
  );
}
