/** @jsxRuntime automatic @jsxImportSource preact */
import type { Token, Tokens } from "marked";
import type { ComponentChild, ComponentChildren } from "preact";
import { Code } from "./code.tsx";
import { highlightedNow, type Language } from "./highlight.tsx";
import { isComment } from "./markdown-inline.tsx";

/** Code blocks that belong together, from this one on. */
export function tabsFrom(tokens: readonly Token[], index: number): Tokens.Code[] {
  const tabs: Tokens.Code[] = [];
  for (const token of tokens.slice(index)) {
    if (isComment(token) && tabs.length > 0) continue;
    if (token.type !== "code" || tabName(token as Tokens.Code) === undefined) break;
    tabs.push(token as Tokens.Code);
  }
  return tabs;
}

function tabName({ lang = "" }: Tokens.Code): string | undefined {
  const [, quoted, bare] = /\btab=(?:"([^"]+)"|(\S+))/.exec(lang) ?? [];
  return quoted ?? bare;
}

export const tabOf = (code: Tokens.Code) => ({
  name: tabName(code) ?? "",
  children: coloured(code),
});

/** By what info strings call them. */
const languages: Readonly<Record<string, { readonly title: string; readonly grammar: Language }>> = {
  sh: { title: "Terminal", grammar: "bash" },
  ts: { title: "TypeScript", grammar: "typescript" },
  python: { title: "Python", grammar: "python" },
  json: { title: "JSON", grammar: "json" },
  toml: { title: "TOML", grammar: "toml" },
  yaml: { title: "YAML", grammar: "yaml" },
};
const languageOf = ({ lang = "" }: Tokens.Code) => languages[lang.split(" ")[0] ?? ""];

function coloured(code: Tokens.Code): ComponentChildren {
  const language = languageOf(code);
  return language ? highlightedNow(code.text, language.grammar) : code.text;
}

export function codeOf(code: Tokens.Code, id: string): ComponentChild {
  return (
    <Code id={id} title={languageOf(code)?.title ?? "Text"}>
      {coloured(code)}
    </Code>
  );
}
