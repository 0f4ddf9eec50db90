import { expect, test } from "vitest";
import { forEvery } from "../../shared/for-every.ts";

const failing = (errors: Readonly<Record<string, Error>>) => {
  const begun: string[] = [];
  const done = forEvery(["a", "b", "c"], async (item) => {
    begun.push(item);
    if (errors[item]) throw errors[item];
  });
  return { begun, done };
};

const withCode = (code: string) => Object.assign(new Error(code), { code });

test("each has its turn though others fail, for a row that is locked too, and the first error is thrown afterwards", async () => {
  const { begun, done } = failing({ a: withCode("55P03"), b: new Error("second") });
  await expect(done).rejects.toThrow("55P03");
  expect(begun).toEqual(["a", "b", "c"]);
  await expect(failing({}).done).resolves.toBeUndefined();
});

test("none is tried after the database went away", async () => {
  const { begun, done } = failing({ b: withCode("57P01") });
  await expect(done).rejects.toThrow("57P01");
  expect(begun).toEqual(["a", "b"]);
});
