import { expect, test } from "vitest";
import { BodyBytes } from "../../shared/body-bytes.ts";

const chunk = (letter: string, bytes: number) => Buffer.alloc(bytes, letter);

function bodyOf(letter: string, chunks: number): BodyBytes {
  const [bytes, piece] = [new BodyBytes(), chunk(letter, 50_001)];
  for (let n = 0; n < chunks; n += 1) bytes.append(piece);
  return bytes;
}

test("the memory of a body that was read is the next one's, and shows nothing of it", async () => {
  const first = bodyOf("a", 40);
  const kept = await first.text();
  const all = first.all();
  first.release();
  const before = process.memoryUsage().arrayBuffers;
  const next = bodyOf("b", 30);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 50_001);
  expect(await next.text()).toBe("b".repeat(30 * 50_001));
  expect(kept).toBe("a".repeat(40 * 50_001));
  expect(all.equals(Buffer.alloc(40 * 50_001, "a"))).toBe(true);
});

test("two bodies never have the same memory, though both were given up twice", async () => {
  const [one, other] = [bodyOf("a", 20), bodyOf("b", 20)];
  for (const body of [one, other, one]) body.release();
  const [third, fourth] = [bodyOf("c", 20), bodyOf("d", 20)];
  expect(await third.text()).toBe("c".repeat(20 * 50_001));
  expect(await fourth.text()).toBe("d".repeat(20 * 50_001));
});
