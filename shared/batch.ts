/**
 * Gathers calls made within a short window into one call of `load`, which answers in the order asked. A failure of
 * `load` fails every call gathered in it. `windowMs` 0 gathers what arrives within one turn of the event loop.
 */
export function batched<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  { sizeMax, windowMs }: { sizeMax: number; windowMs: number },
): (key: Key) => Promise<Value> {
  const waiting: Array<Waiting<Key, Value>> = [];

  const flush = () => {
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
      if (windowMs === 0) setImmediate(flush);
      else setTimeout(flush, windowMs);
    });
}

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}
