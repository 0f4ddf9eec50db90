/** @jsxRuntime automatic @jsxImportSource preact */
import { Copy } from "../../../../shared/page/copy.tsx";

/** A call that makes what the form asks for, for programs. */
export function ApiCode({ origin, tool, settings }: ApiCodeProps) {
  const asked = tool === "vectorize" ? { image: "https://example.com/picture.png", ...settings } : settings;
  return (
    <div class="code code-wrap">
      <div class="code-head">
        <div class="code-langs" role="radiogroup" aria-label="Language">
          <label>
            <input type="radio" class="lang-1" name="language" defaultChecked />
            curl
          </label>
          <label>
            <input type="radio" class="lang-2" name="language" />
            MCP
          </label>
        </div>
        <Copy label="Copy the call" of="call" />
      </div>
      <div id="call">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre class="code-1" tabIndex={0}>
          <code>
            curl <span class="p">-s</span> {origin}/api/v1/svg/{tool} \{"\n  "}
            <span class="p">-H</span> <span class="s">"Authorization: Bearer $KEY"</span> \{"\n  "}
            <span class="p">-H</span> <span class="s">"Content-Type: application/json"</span> \{"\n  "}
            <span class="p">-d</span> '<Asked asked={asked} isQuoted />'
          </code>
        </pre>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre class="code-2" tabIndex={0}>
          <code>
            {`{ "name": "svg_${tool}", "arguments": `}
            <Asked asked={asked} />
            {" }"}
          </code>
        </pre>
      </div>
    </div>
  );
}

interface ApiCodeProps {
  readonly origin: string;
  readonly tool: "vectorize" | "generate";
  readonly settings: object;
}

/** JSON in one line, with the form's values marked; `isQuoted` for JSON between a shell's single quotes. */
function Asked({ asked, isQuoted = false }: { asked: object; isQuoted?: boolean }) {
  const text = (value: unknown) => JSON.stringify(value).replaceAll("'", isQuoted ? "'\\''" : "'");
  return (
    <>
      {"{ "}
      {Object.entries(asked).map(([name, value], index) => (
        <>
          {index > 0 && ", "}
          <span class="s">"{name}"</span>: <span class="yours">{text(value)}</span>
        </>
      ))}
      {" }"}
    </>
  );
}
