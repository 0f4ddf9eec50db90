/** @jsxRuntime automatic @jsxImportSource preact */

/** A line without figures: what it shows stands in words or a table elsewhere. Where there is no value it is broken. */
export function Spark({ values }: { values: readonly (number | undefined)[] }) {
  const known = values.flatMap((value, at) => (value === undefined ? [] : [{ at, value }]));
  if (known.length < 2) return null;
  const top = Math.max(...known.map(({ value }) => value)) || 1;
  const x = (at: number) => round((100 * at) / (values.length - 1));
  const y = (value: number) => round(30 - (28 * value) / top);
  const runs = known.reduce<Array<typeof known>>((before, point) => {
    const last = before.at(-1);
    if (last && last.at(-1)?.at === point.at - 1) last.push(point);
    else before.push([point]);
    return before;
  }, []);
  return (
    <svg class="spark" viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true">
      {runs.map((run) => {
        const line = run.map(({ at, value }) => `${x(at)} ${y(value)}`).join("L");
        const [first, last] = [run[0]?.at ?? 0, run.at(-1)?.at ?? 0];
        return (
          <>
            <path class="area" d={`M${line}L${x(last)} 32L${x(first)} 32Z`} />
            {/* A point alone would not be seen. */}
            <path d={run.length > 1 ? `M${line}` : `M${line}h.01`} />
          </>
        );
      })}
    </svg>
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
