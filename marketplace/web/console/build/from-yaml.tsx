/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { AreaField } from "../../../../shared/page/field.tsx";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import type { RefusedYaml } from "./editor-state.ts";

/** A text may have 200,000 characters and a part of a definition 262,144, each of which a form writes in up to nine bytes. */
export const definitionFormBytesMax = 2_621_440;

/** Begins a draft with a text, wherever it is shown. */
export function FromYaml({ handle, refused }: { handle: string; refused: RefusedYaml | undefined }) {
  return (
    <Disclosure summary="Start from a YAML definition" open={refused !== undefined}>
      <form
        class="stack stack-3"
        method="post"
        action="/build"
        data-typed="yaml"
        data-filled={refused ? "" : undefined}
      >
        <ActField value="yaml" />
        <AreaField
          id="yaml-text"
          name="yaml"
          label="Definition in YAML"
          mono
          rows={12}
          spellcheck={false}
          value={refused?.text}
          placeholder={`agent: ${handle}/my-agent\nname: My agent\ndescription: What it does.\nconnector: llm\nprice_credits: 5\nfields:\n  - { name: text, type: text, required: true }\nsettings:\n  prompt: "{{text}}"`}
          help="The file that npm run agents reads. It becomes a draft; nothing is published."
          error={refused?.problem}
        />
        <div class="row">
          <Button>Make a draft of it</Button>
        </div>
      </form>
    </Disclosure>
  );
}

/** The text that was posted and not taken, and why. */
export function refusedYamlIn(refusal: Refusal | undefined): RefusedYaml | undefined {
  if (refusal?.act !== "yaml") return undefined;
  return { text: refusal.value("yaml") ?? "", problem: refusal.at("yaml") ?? refusal.sentence };
}
