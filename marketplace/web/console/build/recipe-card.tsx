/** @jsxRuntime automatic @jsxImportSource preact */
import { AreaField, Choice, SelectField, TextField } from "../../../../shared/page/field.tsx";
import { Icon } from "../../../../shared/page/icon.tsx";
import { connectorNames } from "../../../connectors/connector.ts";
import { type AnyConnector, connectors } from "../../../connectors/registry.ts";
import type { ModelList } from "../../../models/model-list.ts";
import { connectorIcon } from "../../agent/connector-icon.ts";
import { idAt } from "./anchors.ts";
import { type Control, settingControls } from "./controls.ts";
import type { Editor } from "./editor-state.ts";
import { jsonShown } from "./json-setting.ts";
import { slotNames } from "./shown-draft.ts";

/** The connector's settings, as a form made from their schema, and the secrets that they name. */
export function RecipeCard({ editor }: { editor: Editor }) {
  const { definition } = editor.draft;
  const connector = connectors.get(definition.connector);
  if (!connector) return null;
  const controls = settingControls(connector);
  return (
    <section class="card" aria-labelledby="recipe-title" id="at-settings">
      <div class="card-head">
        <Icon name={connectorIcon(connector.id)} />
        <h2 id="recipe-title">Recipe</h2>
        <span class="small faint">{connectorNames[connector.id]}</span>
        <a class="link small push" href="/docs/connectors">
          What it does
        </a>
      </div>
      <div class="card-body stack">
        {controls.filter(isWide).map((control) => (
          <Setting control={control} connector={connector} editor={editor} />
        ))}
        <p class="help" id="build-slots">
          {slotNames(definition).length > 0 && "Slots: "}
          {slotNames(definition).map((name) => (
            <>
              <code class="icode" data-slot={name}>{`{{${name}}}`}</code>{" "}
            </>
          ))}
          A slot without a field cannot be published.
        </p>
        <div class="cols cols-2">
          {controls
            .filter((control) => !isWide(control))
            .map((control) => (
              <Setting control={control} connector={connector} editor={editor} />
            ))}
        </div>
      </div>
      {connector.takesSecrets && <Secrets editor={editor} />}
    </section>
  );
}

const isWide = ({ kind, lengthMax = 0 }: Control) =>
  kind === "area" || kind === "json" || (kind === "line" && lengthMax > 1_000);

interface SettingProps {
  readonly control: Control;
  readonly connector: AnyConnector;
  readonly editor: Editor;
}

function Setting({ control, connector, editor }: SettingProps) {
  const { path, kind, required, usual, choices } = control;
  const value = valueAt(editor.draft.definition.settings, path.split("."));
  const note = connector.guide.settings[path];
  const told = {
    id: idAt(`settings.${path}`),
    name: `s.${path}`,
    label: labelOf(path),
    note: required ? undefined : "optional",
    help: note && helpOf(note, kind),
  };
  if (path === "model") return <ModelSetting connector={connector} editor={editor} value={value} told={told} />;
  switch (kind) {
    case "switch":
      return (
        <Choice
          id={told.id}
          name={told.name}
          value="true"
          checked={value === undefined ? usual === "true" : value === true}
          label={told.label}
          help={told.help}
        />
      );
    case "choice":
      return (
        <SelectField
          {...told}
          note={undefined}
          choices={[...(usual === undefined && !required ? [{ value: "", label: "–" }] : []), ...choices.map(asChoice)]}
          value={value === undefined ? usual : textOf(value, kind)}
        />
      );
    default:
      return <TextSetting control={control} told={told} text={textOf(value, kind)} isTemplate={isTemplate(note)} />;
  }
}

interface TextProps {
  readonly control: Control;
  readonly told: Pick<Parameters<typeof TextField>[0], "id" | "name" | "label" | "note" | "help">;
  readonly text: string;
  readonly isTemplate: ReturnType<typeof isTemplate>;
}

function TextSetting({ control: { kind, usual }, told, text, isTemplate }: TextProps) {
  if (kind === "area" || kind === "json" || kind === "lines") {
    return <AreaField {...told} mono rows={rowsFor(text)} value={text} spellcheck={false} data-template={isTemplate} />;
  }
  return (
    <TextField
      {...told}
      mono={kind === "line"}
      inputMode={kind === "number" ? "decimal" : "text"}
      placeholder={usual}
      value={text}
      autocomplete="off"
      spellcheck={false}
      data-template={isTemplate}
    />
  );
}

interface ModelProps extends Omit<SettingProps, "control"> {
  readonly value: unknown;
  readonly told: { readonly id: string; readonly name: string; readonly label: string };
}

/** The models that the operator lists, with what each costs its creator. */
function ModelSetting({ connector, editor, value, told }: ModelProps) {
  const { usual, models } = editor.modelList[kindOfModel(connector)];
  const costs = (name: string) => {
    const each = models.get(name)?.credits ?? 0n;
    return each === 0n ? name : `${name}, ${each} ${each === 1n ? "credit" : "credits"} a call`;
  };
  const named = textOf(value, "line");
  const names = [...new Set([...models.keys(), ...(named ? [named] : [])])];
  const listed = names.map((name) => ({ value: name, label: costs(name) }));
  return (
    <SelectField
      {...told}
      choices={[{ value: "", label: `Platform default (${costs(usual)})` }, ...listed]}
      value={named}
      help="What it costs comes out of the price of a run."
    />
  );
}

const kindOfModel = ({ id }: AnyConnector): keyof ModelList => (id === "image-generator" ? "images" : "chat");

/** Written, never shown: a secret that is set is replaced or taken away. */
function Secrets({ editor: { draft, refusedSecret } }: { editor: Editor }) {
  return (
    <div class="panel-part" id="at-secrets">
      <h3>Secrets</h3>
      <p class="help">
        Named in templates as <code class="icode">{"{{secret.name}}"}</code>. Sealed, and never shown again, not even to
        you.
        {draft.secretNames.length > 0 && (
          <>
            {" "}
            What is ticked is taken away when you <span data-save="">save, </span>try or publish.
          </>
        )}
      </p>
      {draft.secretNames.map((name) => (
        <div class="row row-4">
          <div class="grow">
            <TextField
              id={`secret-${name}`}
              name={`k.${name}`}
              label={<code>{name}</code>}
              type="password"
              placeholder="set; leave empty to keep it"
              autocomplete="new-password"
              note="set"
            />
          </div>
          <Choice name={`k-gone.${name}`} value="1" label="Take away" />
        </div>
      ))}
      <div class="cols cols-2">
        <TextField
          id="secret-name"
          name="secret_name"
          label="New secret"
          mono
          placeholder="api_key"
          autocomplete="off"
          spellcheck={false}
          value={refusedSecret?.name}
          error={refusedSecret?.problem}
        />
        <TextField
          id="secret-value"
          name="secret_value"
          label="Its value"
          type="password"
          autocomplete="new-password"
          help="8 characters or more."
        />
      </div>
    </div>
  );
}

function valueAt(settings: unknown, [first = "", ...rest]: readonly string[]): unknown {
  if (typeof settings !== "object" || settings === null) return undefined;
  const value = (settings as Record<string, unknown>)[first];
  return rest.length === 0 ? value : valueAt(value, rest);
}

function textOf(value: unknown, kind: Control["kind"]): string {
  if (kind === "json") return jsonShown(value);
  if (value === undefined || value === null) return "";
  if (kind === "lines" && Array.isArray(value)) return value.map((line) => textOf(line, "line")).join("\n");
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value);
}

/** `rule.likes_min` is "Rule: likes min". */
function labelOf(path: string): string {
  const said = path.replace(".", ": ").replaceAll("_", " ").replace(/^url$/, "URL");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

function helpOf(note: string, kind: Control["kind"]): string {
  const said = note.replace(/^templates?(: |$)/, "");
  const more = { lines: "one a line", json: "JSON" }[kind as "lines" | "json"];
  const text = [said, said.includes("JSON") ? "" : more].filter(Boolean).join("; ");
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const isTemplate = (note: string | undefined) => (/^template/.test(note ?? "") ? "" : undefined);
const asChoice = (value: string) => ({ value, label: value });
const rowsFor = (text: string) => Math.min(14, Math.max(2, text.split("\n").length + Math.floor(text.length / 90)));
