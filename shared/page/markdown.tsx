/** @jsxRuntime automatic @jsxImportSource preact */
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChild } from "preact";
import { Badge, type Tone } from "./badge.tsx";
import { Callout } from "./callout.tsx";
import { CodeTabs } from "./code-tabs.tsx";
import { codeOf, tabOf, tabsFrom } from "./markdown-code.tsx";
import { decoded, inlineOf, inlinePart, isComment, plainText } from "./markdown-inline.tsx";
import { Rail } from "./rail.tsx";

/**
 * Markdown as the kit's parts. It is read into tokens and each becomes an element here, so that no markup in it reaches the
 * page: HTML is shown as text, comments are left out, and links lead to pages, mail addresses and the web only.
 * Code is in colours where `loadHighlighter` was awaited before. Beyond the usual: `> [!NOTE] Title` is a callout (also WARNING,
 * UNKNOWN, DONE), code blocks one after another whose info string has `tab=` are tabs, and an ordered list after `<!-- rail -->` is
 * a rail.
 */
export function Markdown({ text }: { readonly text: string }) {
  return <>{blocksOf(lexer(text), "c")}</>;
}

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly id: string;
}

/** The headings of a text, with the ids by which they are linked. */
export function headingsOf(text: string): Heading[] {
  const found = lexer(text).filter((token): token is Tokens.Heading => token.type === "heading");
  return found.map(({ depth, tokens }) => ({ depth, text: plainText(tokens), id: idOf(plainText(tokens)) }));
}

/** The text without the comments that say how it is shown or tested. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^<!--.*-->\n/gm, "");
}

const idOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "") || "section";

/** Blocks, one after another; `id` begins the ids of what they hold. */
function blocksOf(tokens: readonly Token[], id: string): ComponentChild[] {
  const shown: ComponentChild[] = [];
  const content = tokens.filter(({ type }) => type !== "space" && type !== "def");
  let isRail = false;
  let heading = "";
  for (let index = 0; index < content.length; index += 1) {
    const token = content[index] as Token;
    if (isComment(token)) {
      isRail ||= /^<!--\s*rail\s*-->/.test(token.raw);
      continue;
    }
    if (token.type === "heading") heading = plainText((token as Tokens.Heading).tokens);
    const tabs = tabsFrom(content, index);
    if (tabs.length > 1) {
      shown.push(<CodeTabs id={`${id}-${index}`} tabs={tabs.map(tabOf)} />);
      index = content.indexOf(tabs.at(-1) as Token);
    } else if (isRail && token.type === "list") shown.push(railOf(token as Tokens.List));
    else if (token.type === "table") shown.push(tableOf(token as Tokens.Table, heading));
    else shown.push(blockOf(token, `${id}-${index}`));
    isRail = false;
  }
  return shown;
}

function blockOf(token: Token, id: string): ComponentChild {
  switch (token.type) {
    case "heading":
      return headingOf(token as Tokens.Heading);
    case "paragraph":
      return <p>{inlineOf((token as Tokens.Paragraph).tokens)}</p>;
    case "code":
      return codeOf(token as Tokens.Code, id);
    case "list":
      return listOf(token as Tokens.List, id);
    case "blockquote":
      return quoteOf(token as Tokens.Blockquote, id);
    case "hr":
      return <hr />;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlineOf(tokens) : decoded(text);
    }
    default:
      return <p>{token.raw}</p>;
  }
}

function headingOf({ depth, tokens }: Tokens.Heading): ComponentChild {
  const id = idOf(plainText(tokens));
  const content = inlineOf(tokens);
  const anchor = (
    <a class="anchor" href={`#${id}`} aria-label={`Link to ${plainText(tokens)}`}>
      #
    </a>
  );
  if (depth === 1) return <h1>{content}</h1>;
  if (depth === 2)
    return (
      <h2 id={id}>
        {content}
        {anchor}
      </h2>
    );
  return (
    <h3 id={id}>
      {content}
      {anchor}
    </h3>
  );
}

function listOf({ ordered, start, items }: Tokens.List, id: string): ComponentChild {
  const shown = items.map((item, index) => <li>{blocksOf(item.tokens, `${id}-${index}`)}</li>);
  return ordered ? <ol start={start === 1 || start === "" ? undefined : start}>{shown}</ol> : <ul>{shown}</ul>;
}

/** `**Quoted** what is said of it`, all of them passed. */
function railOf({ items }: Tokens.List): ComponentChild {
  const stops = items.map(({ text }, index) => {
    const [, name = text, say = ""] = /^\*\*(.+?)\*\*\s*(.*)$/s.exec(text) ?? [];
    return { name, say, state: index === items.length - 1 ? ("end" as const) : ("done" as const) };
  });
  return <Rail stops={stops} />;
}

/** `heading` is what stands above it: landmarks have names of their own. */
function tableOf({ header, rows }: Tokens.Table, heading: string): ComponentChild {
  const label = [heading, ...header.map(({ tokens }) => plainText(tokens))].filter(Boolean).join(", ");
  return (
    <div class="card">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="table-box" aria-label={`Table: ${label}`} tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {header.map(({ tokens }, index) => (
                <th scope="col" class={columnClass(index)}>
                  {inlineOf(tokens)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {row.map((cell, index) => (
                  <td class={columnClass(index)}>{cellOf(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** A fourth column finds no room on a phone. */
const columnClass = (index: number) => (index >= 3 ? "hide-s" : undefined);

/** An end that is not known is a state, and looks like one. */
function cellOf({ text, tokens }: Tokens.TableCell): ComponentChild {
  if (text === "not known yet")
    return (
      <Badge tone="maybe" dot>
        {text}
      </Badge>
    );
  return tokens.map((token) =>
    token.type === "codespan" ? <code>{(token as Tokens.Codespan).text}</code> : inlinePart(token),
  );
}

const callouts: Readonly<Record<string, Tone>> = { NOTE: "info", WARNING: "warn", UNKNOWN: "maybe", DONE: "ok" };

function quoteOf({ text, tokens }: Tokens.Blockquote, id: string): ComponentChild {
  const [first = "", ...rest] = text.split("\n");
  const [, kind = "", title = ""] = /^\[!(\w+)\]\s*(.*)$/.exec(first) ?? [];
  const tone = Object.hasOwn(callouts, kind) ? callouts[kind] : undefined;
  if (!tone) return <blockquote>{blocksOf(tokens, id)}</blockquote>;
  return (
    <Callout tone={tone} title={title || undefined}>
      {blocksOf(lexer(rest.join("\n")), id)}
    </Callout>
  );
}
