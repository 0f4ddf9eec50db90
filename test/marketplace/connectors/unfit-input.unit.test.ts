import { expect, test } from "vitest";
import { fillHeader } from "../../../marketplace/connectors/header-template.ts";
import { fillText } from "../../../marketplace/connectors/template.ts";
import { fillUrl } from "../../../marketplace/connectors/url-template.ts";

test.each<[string, (text: string) => unknown, string]>([
  ["a path", (text) => fillUrl("https://example.com/{{text}}", { values: { text }, secrets: {} }), ".."],
  ["an address", (text) => fillUrl("https://example.com/{{text}}", { values: { text }, secrets: {} }), "\ud800"],
  ["a header", (text) => fillHeader("a={{text}}", { values: { text }, secrets: {} }), "a;b"],
  ["a request", (text) => fillText("{{text}}", { values: { text }, secrets: {}, left: 3 }), "long"],
])("who has paid for what cannot make %s is told that another input may", (_name, fill, text) => {
  expect(() => fill("a")).not.toThrow();
  expect(() => fill(text)).toThrow(expect.objectContaining({ name: "ConnectorError", remedy: "input" }));
});
