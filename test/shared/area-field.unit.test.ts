import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { AreaField } from "../../shared/page/field.tsx";

const shown = (value: string) => renderToString(h(AreaField, { id: "a", name: "a", label: "A", value }));

// A browser drops a line end right after the tag.
test("a text that begins with an empty line keeps it in its box", () => {
  expect(shown("\nHello")).toContain(">\n\nHello</textarea>");
  expect(shown("Hello\n")).toContain(">Hello\n</textarea>");
});
