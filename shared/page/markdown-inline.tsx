/** @jsxRuntime automatic @jsxImportSource preact */
import type { Token, Tokens } from "marked";
import type { ComponentChild } from "preact";

/** What stands within a line. */
export function inlineOf(tokens: readonly Token[]): ComponentChild[] {
  return tokens.map(inlinePart);
}

export function inlinePart(token: Token): ComponentChild {
  switch (token.type) {
    case "strong":
      return <b>{inlineOf((token as Tokens.Strong).tokens)}</b>;
    case "em":
      return <em>{inlineOf((token as Tokens.Em).tokens)}</em>;
    case "del":
      return <s>{inlineOf((token as Tokens.Del).tokens)}</s>;
    case "codespan":
      return <code class="icode">{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return linkOf(token as Tokens.Link);
    case "image":
      return (token as Tokens.Image).text;
    case "html":
      return isComment(token) ? null : token.raw;
    default: {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlineOf(tokens) : decoded(text ?? token.raw);
    }
  }
}

function linkOf({ href, tokens }: Tokens.Link): ComponentChild {
  const content = inlineOf(tokens);
  if (!/^(https?:\/\/|mailto:|\/(?!\/)|#)/i.test(href)) return <>{content}</>;
  return (
    <a class="link" href={href} rel={/^https?:/i.test(href) ? "noopener" : undefined}>
      {content}
    </a>
  );
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
};

/** The few entities that texts are written with; the page escapes what needs it. */
export function decoded(text: string): string {
  return text.replaceAll(/&(\w+);/g, (all, name: string) => (Object.hasOwn(entities, name) ? entities[name]! : all));
}

/** The words alone. */
export function plainText(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) =>
      "tokens" in token && token.tokens ? plainText(token.tokens) : "text" in token ? decoded(token.text) : "",
    )
    .join("");
}

export const isComment = ({ type, raw }: Token) => type === "html" && /^<!--[\s\S]*-->\s*$/.test(raw);
