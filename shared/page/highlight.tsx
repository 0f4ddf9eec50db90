/** @jsxRuntime automatic @jsxImportSource preact */
import { setImmediate } from "node:timers/promises";
import type { ComponentChildren } from "preact";
import type { HighlighterCore, ThemeRegistrationRaw } from "shiki/core";
import { SizedCache } from "../sized-cache.ts";

/** The languages that code on pages is written in. */
const grammars = {
  bash: () => import("shiki/langs/bash.mjs"),
  http: () => import("shiki/langs/http.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
} as const;

export type Language = keyof typeof grammars;

/** Code in colours: classes of the kit, and never a style. Languages are loaded once, at the first call. */
export async function highlighted(code: string, language: Language): Promise<ComponentChildren> {
  await loadHighlighter();
  return highlightedNow(code, language);
}

/**
 * The colours that the highlighter gives stand for the kit's classes, so that no page needs an inline style: keyword, string,
 * number, comment, option.
 */
const classOf: Readonly<Record<string, string>> = {
  "#000001": "k",
  "#000002": "s",
  "#000003": "n",
  "#000004": "c",
  "#000005": "p",
};

const theme: ThemeRegistrationRaw = {
  name: "kit",
  fg: "#000000",
  bg: "#ffffff",
  settings: [
    { settings: { foreground: "#000000" } },
    { scope: ["keyword", "storage", "constant.language"], settings: { foreground: "#000001" } },
    { scope: ["keyword.operator", "storage.type.function.arrow"], settings: { foreground: "#000000" } },
    { scope: ["string", "constant.character"], settings: { foreground: "#000002" } },
    {
      scope: [
        "string.unquoted.argument.shell",
        "constant.character.escape.line-continuation.shell",
        "support.type.property-name",
        "entity.name.tag",
      ],
      settings: { foreground: "#000000" },
    },
    { scope: ["constant.numeric"], settings: { foreground: "#000003" } },
    { scope: ["comment"], settings: { foreground: "#000004" } },
    { scope: ["constant.other.option", "variable.other.normal.shell"], settings: { foreground: "#000005" } },
  ],
};

let loading: Promise<HighlighterCore> | undefined;

/** Makes ready what `highlightedNow` needs; the first call takes a moment. */
export async function loadHighlighter(): Promise<void> {
  loading ??= load();
  highlighter = await loading;
}

/**
 * A grammar is made ready by its first use, which takes long: one at a time, so that other requests are answered in between.
 * Loaded only then: a copy that answers programs alone needs no memory for it.
 */
async function load(): Promise<HighlighterCore> {
  const { createHighlighterCore } = await import("shiki/core");
  const { createJavaScriptRegexEngine } = await import("shiki/engine/javascript");
  const loaded = await createHighlighterCore({
    themes: [theme],
    langs: Object.values(grammars).map((grammar) => grammar()),
    engine: createJavaScriptRegexEngine(),
  });
  for (const lang of Object.keys(grammars)) {
    await setImmediate();
    loaded.codeToTokensBase(samples[lang as Language], { lang, theme: "kit", ...bounds });
  }
  return loaded;
}

/** What each is used for: a grammar's rules are made ready by the text that needs them. */
const samples: Readonly<Record<Language, string>> = {
  bash: "# a\ncurl -s 'https://a' -H \"B: $C\" \\\n  -d '{\"d\":1}'",
  http: "GET / HTTP/1.1",
  json: '{"a": [1, true, null, "b"]}',
  python: 'import a, b\n\nc = a.b(\n    "d",\n    e={"f": f"{b[\'g\']}"},\n    h=1,\n).i()\nprint(c["j"])',
  toml: 'a = "b"',
  typescript: [
    'import { A } from "a";',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample's own
    "const b = c(process.env.D as `0x${string}`); // e",
    'const f = await g("h", {\n  method: "POST",\n  i: [{ j, k: new A(b) }],\n  l: JSON.stringify({ m: 1_000 }),\n});',
    "console.log((await f.json()).n);",
  ].join("\n"),
  yaml: "a: {b: 1}\nc:\n  - d",
};

let highlighter: HighlighterCore | undefined;

/** The highlighted code if the highlighter is loaded already, else the plain code. */
export function highlightedNow(code: string, language: Language): ComponentChildren {
  if (!highlighter) return code;
  const parts = kept.get(`${language}\n${code}`) ?? partsOf(highlighter, code, language);
  return parts.map(({ text, className }) => (className === undefined ? text : <span class={className}>{text}</span>));
}

interface Part {
  readonly text: string;
  readonly className: string | undefined;
}

/** Code shown last: all visitors see the same code. */
const kept = new SizedCache<readonly Part[]>(8_000_000);
/** Bytes of memory that a part takes, beside its text. */
const partBytes = 60;
/** Grammars take their time on long lines, and others wait meanwhile. */
const lengthMax = 20_000;
const lineLengthMax = 2_000;
/** By the clock a busy machine would end a line anywhere, and colour what follows it wrongly for as long as that is kept. */
const bounds = { tokenizeTimeLimit: 0, tokenizeMaxLineLength: lineLengthMax };

function partsOf(highlighter: HighlighterCore, code: string, language: Language): readonly Part[] {
  if (code.length > lengthMax) return [{ text: code, className: undefined }];
  const lines = highlighter.codeToTokensBase(code, { lang: language, theme: "kit", ...bounds });
  const parts: { text: string; className: string | undefined }[] = [];
  for (const [index, line] of lines.entries()) {
    const tokens = line.map(({ content, color }) => ({
      text: content,
      className: classOf[color?.toLowerCase() ?? ""],
    }));
    for (const token of [...(index > 0 ? [{ text: "\n", className: undefined }] : []), ...tokens]) {
      const last = parts.at(-1);
      if (last && last.className === token.className) last.text += token.text;
      else parts.push({ ...token });
    }
  }
  kept.set(`${language}\n${code}`, parts, 2 * code.length + partBytes * parts.length);
  return parts;
}
