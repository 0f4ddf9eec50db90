import fc from "fast-check";
import { expect, test } from "vitest";
import { SizedCache } from "../../shared/sized-cache.ts";

test("what is kept is never larger than the room, and is what was asked for last", () => {
  const step = fc.record({
    key: fc.constantFrom(..."abcdefgh"),
    size: fc.integer({ min: 0, max: 130 }),
    get: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = new SizedCache<number>(100);
      let model: { key: string; size: number }[] = [];
      for (const { key, size, get } of steps) {
        const known = model.find((entry) => entry.key === key);
        model = model.filter((entry) => entry.key !== key);
        if (get) {
          expect(cache.get(key)).toBe(known?.size);
          if (known) model.push(known);
        } else {
          cache.set(key, size, size);
          model.push({ key, size });
          while (model.reduce((sum, entry) => sum + entry.size, 0) > 100) model.shift();
        }
      }
      const kept = [..."abcdefgh"].filter((key) => cache.get(key) !== undefined);
      expect(kept).toEqual(model.map(({ key }) => key).toSorted());
    }),
  );
});
