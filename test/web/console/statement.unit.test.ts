import { expect, test } from "vitest";
import { minuteOf } from "../../../marketplace/web/console/credits/statement-columns.tsx";

test("a posting of another year than this is told with its year", () => {
  const now = new Date("2026-11-30T10:00:00Z");
  expect(minuteOf("2026-11-14T09:30:00Z", now)).toBe("14 Nov 09:30");
  expect(minuteOf("2025-11-14T09:30:00Z", now)).toBe("14 Nov 2025 09:30");
});
