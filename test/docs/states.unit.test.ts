import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { transitions as ofPayments } from "../../facilitator/payment-states.ts";
import { transitions as ofPaidCalls } from "../../marketplace/payments/paid-calls/states.ts";

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
const callChanges = Object.fromEntries(Object.entries(ofPaidCalls).map(([verb, { from }]) => [verb, from]));

test.each<[string, Changes]>([
  ["A payment at the facilitator", ofPayments],
  ["A call paid per call", callChanges],
])(
  "docs/architecture.md, %s: draws every change of state that the code makes and no other, and explains each state",
  (chapter, changes) => {
    const text = page.split(`\n## ${chapter}\n`)[1]?.split("\n## ")[0] ?? "";
    const drawn = [...text.matchAll(/^ {2}(\S+) --> (\S+): /gm)].map(([, from, to]) => ({ from, to }));
    const made = Object.values(changes).flatMap((change) =>
      Object.entries(change).flatMap(([from, after]) => after.map((to) => ({ from: named(from), to: named(to) }))),
    );
    expect(written(drawn)).toEqual(written(made));
    const states = new Set(made.flatMap(({ from, to }) => [from, to]));
    states.delete("[*]");
    const explained = [...text.matchAll(/^\| (\w+) \| /gm)].map(([, state]) => state).slice(1);
    expect(explained.toSorted()).toEqual([...states].toSorted());
  },
);

type Changes = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const named = (state: string) => (state === "none" ? "[*]" : state);

/** Without those that change no state. */
function written(arrows: ReadonlyArray<{ readonly from: string | undefined; readonly to: string | undefined }>) {
  return [...new Set(arrows.flatMap(({ from, to }) => (from === to ? [] : `${from} → ${to}`)))].toSorted();
}
