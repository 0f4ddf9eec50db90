import { h, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { extraField } from "../../marketplace/web/agent/form-input.ts";
import { InputFields } from "../../marketplace/web/agent/input-fields.tsx";

const fieldsOf = (fields: number, choices: number) =>
  Array.from({ length: fields }, (_, n) => ({
    ...extraField,
    name: `field_${n}`,
    type: "choice" as const,
    choices: Array.from({ length: choices }, (_, choice) => `choice ${choice}`),
  }));

test("three thousand choices of an agent are written without components for each", () => {
  const fields = fieldsOf(50, 60);
  let made = 0;
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    made += 1;
    before?.(node);
  };
  try {
    const html = renderToString(h(InputFields, { fields, values: {} }));
    expect(html.match(/<option /g)?.length).toBe(50 * 61);
  } finally {
    if (before) options.vnode = before;
    else delete options.vnode;
  }
  expect(made).toBeLessThan(2_000);
});

test("a choice is written as it is, whatever it holds, and the chosen one alone is selected", () => {
  const hostile = `</option><script>"a" & 'b'</script>`;
  const [field] = fieldsOf(1, 0);
  const fields = [{ ...field!, choices: ["a", hostile, "ab"] }];
  const html = renderToString(h(InputFields, { fields, values: { field_0: hostile } }));
  const said = "&lt;/option>&lt;script>&quot;a&quot; &amp; 'b'&lt;/script>";
  expect(html).toContain(
    `<option value="">–</option><option value="a">a</option><option value="${said}" selected>${said}</option><option value="ab">ab</option>`,
  );
});
