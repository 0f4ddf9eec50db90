import { describe, expect, test } from "vitest";
import { readUpload } from "../../../marketplace/svg/image-source.ts";

describe("a picture that comes with its request", () => {
  test.each(["AAAA", "AAA=", "AA==", "A-_/+A==", "data:image/png;base64,AAA="])("is read from %s", (image) => {
    expect(readUpload(image).length).toBeGreaterThan(0);
  });

  test.each([
    "",
    "=",
    "==",
    "AAA===",
    "AA=A",
    "AA= ",
    "A A",
    "data:image/gif;base64,AAAA",
    "https://example.com/a.png",
  ])('is refused as "%s", naming the image', (image) => {
    expect(() => readUpload(image)).toThrow(
      expect.objectContaining({ code: "invalid_value", body: { field: "image" } }),
    );
  });

  test("may have as many bytes as there may be, and no more", () => {
    expect(readUpload(Buffer.alloc(10_000_000, 7).toString("base64")).length).toBe(10_000_000);
    expect(() => readUpload(Buffer.alloc(10_000_001, 7).toString("base64"))).toThrow("at most 10 MB");
  });
});
