/** @jsxRuntime automatic @jsxImportSource preact */
import { changedAt, type DiffLine, nearChanges } from "../../../drafts/line-diff.ts";

/** The lines that differ, with some around them; of very many the first. */
export function DiffLines({ label, lines }: { label: string; lines: readonly DiffLine[] }) {
  const groups = nearChanges(lines);
  if (groups.length === 0) return <p class="small faint">Nothing differs.</p>;
  const left = changedAt(lines).length - groups.reduce((sum, group) => sum + changedAt(group).length, 0);
  return (
    <section class="code code-bare" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>
          {groups.map((group, at) => (
            <>
              {at > 0 && "  …\n"}
              {group.map((line) => (
                <Line line={line} />
              ))}
            </>
          ))}
          {left > 0 && `  … ${left.toLocaleString("en")} more changed lines\n`}
        </code>
      </pre>
    </section>
  );
}

function Line({ line: { sign, text } }: { line: DiffLine }) {
  const said = `${sign} ${text.slice(0, shownMax)}`;
  if (sign === " ") return <>{`${said}\n`}</>;
  return (
    <>
      <span class={sign === "+" ? "add" : "del"}>{said}</span>
      {"\n"}
    </>
  );
}

/** A prompt may be one long line. */
const shownMax = 2_000;
