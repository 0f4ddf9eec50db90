/**
 * Gathers calls made within a short window into one call of `load`, which answers in the order asked. A failure of
 * `load` fails every call gathered in it. `windowMs` 0 gathers what arrives within one turn of the event loop, and, where the
 * last `load` began less than `spacingMs` before, until so long after it: a call that comes alone waits for nothing.
 */
export function batched<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  { sizeMax, windowMs, spacingMs = 0 }: { sizeMax: number; windowMs: number; spacingMs?: number },
): (key: Key) => Promise<Value> {
  const waiting: Array<Waiting<Key, Value>> = [];
  let nextAt = 0;

  const flush = () => {
    nextAt = performance.now() + spacingMs;
    const batch = waiting.splice(0, sizeMax);
    if (waiting.length > 0) setImmediate(flush);
    load(batch.map(({ key }) => key)).then(
      (values) => {
        batch.forEach(({ resolve }, index) => {
          resolve(values[index] as Value);
        });
      },
      (error) => {
        for (const { reject } of batch) reject(error);
      },
    );
  };

  return (key) =>
    new Promise<Value>((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (waiting.length > 1) return;
      const delayMs = spacingMs === 0 ? windowMs : Math.max(windowMs, nextAt - performance.now());
      if (delayMs <= 0) setImmediate(flush);
      else setTimeout(flush, delayMs);
    });
}

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}
