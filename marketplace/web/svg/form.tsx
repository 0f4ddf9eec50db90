/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { AreaField, Field, SelectField, Switch, TextField } from "../../../shared/page/field.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { drawAspects, drawStyles, seedMax } from "../../svg/draw-options.ts";
import { svgProducts } from "../../svg/products.ts";
import { imageBytesMax } from "../../tracer/image/limits.ts";
import { traceModes, traceStyles } from "../../tracer/options.ts";
import type { WalletPanelProps } from "../agent/wallet-panel.tsx";
import { creditsOf } from "../money.tsx";
import { colourSteps, drawColourSteps, priceShown, type Values } from "./orders.ts";
import { DrawPay, TracePay, WalletPay } from "./pay.tsx";

/** What the form knows of its visitor. */
export interface FormProps {
  readonly hasAccount: boolean;
  /** Free tries: how many are left today; undefined where the operator allows none. */
  readonly triesLeft: number | undefined;
  /** The wallets that drawings can be paid to. */
  readonly payees: WalletPanelProps["payees"];
  /** Where a picture lies that can be tried. */
  readonly sample: string;
  /** What was chosen before. */
  readonly values: Values;
  /** A name of this form, so that one that is sent twice is charged once. */
  readonly requestName: string;
}

export function WorkbenchForm(props: FormProps) {
  const { values, requestName } = props;
  const draws = values.get("make") === "draw";
  return (
    <div class="card">
      <div class="panel-part">
        <div class="seg seg-block" role="radiogroup" aria-label="Source">
          <Radio name="make" value="trace" checked={!draws} icon="image">
            Trace an image
          </Radio>
          <Radio name="make" value="draw" checked={draws} icon="draw">
            Draw
          </Radio>
        </div>
        <Drop />
        <p class="small faint for-trace if-scripts">
          None at hand?{" "}
          <button type="button" class="link link-button" data-sample={props.sample}>
            Use an example
          </button>
        </p>
        <div class="for-draw">
          <AreaField
            id="prompt"
            name="prompt"
            label="What to draw"
            rows={4}
            value={String(values.get("prompt") ?? "")}
            placeholder="A lighthouse on a cliff before a red sun"
          />
        </div>
      </div>
      <TraceOptions values={values} />
      <DrawOptions values={values} />
      <TracePay {...props} />
      <DrawPay {...props} />
      {props.payees.length > 0 && <WalletPay payees={props.payees} />}
      <input type="hidden" name="request_name" value={requestName} />
      {Object.entries(svgProducts).map(([product, { price }]) => (
        <input type="hidden" name={priceShown(product)} value={String(price)} />
      ))}
    </div>
  );
}

function Radio({ icon, children, ...input }: RadioProps) {
  return (
    <label>
      <input type="radio" {...input} />
      <Icon name={icon} />
      {children}
    </label>
  );
}

interface RadioProps {
  readonly name: string;
  readonly value: string;
  readonly checked: boolean;
  readonly icon: "image" | "draw";
  readonly children: ComponentChildren;
}

const megabytesMax = imageBytesMax / 1e6;

function Drop() {
  return (
    <label class="drop for-trace" data-drop="">
      <Icon name="image-up" />
      <span class="strong" data-drop-name="">
        Choose a picture
      </span>
      <span class="small faint" data-drop-about="">
        PNG, JPEG or WebP, up to {megabytesMax} MB
      </span>
      <span class="small dim if-scripts">
        Drop, paste or <span class="link">choose</span>
      </span>
      <input
        type="file"
        name="image"
        accept="image/png,image/jpeg,image/webp"
        aria-label={`Picture: PNG, JPEG or WebP, up to ${megabytesMax} MB`}
      />
    </label>
  );
}

function TraceOptions({ values }: { values: Values }) {
  return (
    <fieldset class="panel-part for-trace later">
      <h2>Options</h2>
      <SelectField
        id="style"
        name="style"
        code
        label="Style"
        choices={traceStyles.map(choiceOf)}
        value={String(values.get("style"))}
      />
      <Slider id="colors" label="Colours" values={values} steps={colourSteps} />
      <Slider id="simplify" label="Simplify" values={values} max={1} step={0.05} fallback={0} />
      <SelectField
        id="mode"
        name="mode"
        code
        label="Shapes"
        choices={traceModes.map(choiceOf)}
        value={String(values.get("mode"))}
      />
      <Switch
        name="remove_background"
        label="Remove the background"
        checked={isOn(values, "remove_background")}
        atEnd
      />
      <Switch name="layers" label="Name objects as layers" checked={isOn(values, "layers")} atEnd />
    </fieldset>
  );
}

const isOn = (values: Values, name: string) => values.get(name) === "on";

/** What is not called by its own name. */
const labels: Readonly<Record<string, string>> = {
  auto: "Automatic",
  lineart: "Line art",
  pixel: "Pixel art",
  stacked: "Stacked, no gaps",
  cutout: "Cut out, no overlaps",
};

function choiceOf(value: string) {
  return { value, label: labels[value] ?? (value[0]?.toUpperCase() ?? "") + value.slice(1) };
}

function DrawOptions({ values }: { values: Values }) {
  const value = (name: string) => String(values.get(name) ?? "");
  return (
    <fieldset class="panel-part for-draw">
      <h2>Options</h2>
      <SelectField
        id="draw_style"
        name="draw_style"
        label="Style"
        choices={drawStyles.map(choiceOf)}
        value={value("draw_style") || drawStyles[0]}
      />
      <SelectField
        id="aspect"
        name="aspect"
        label="Shape"
        choices={drawAspects.map(choiceOf)}
        value={value("aspect") || drawAspects[0]}
      />
      <Slider id="draw_colors" label="Colours" values={values} steps={drawColourSteps} />
      <TextField
        id="palette"
        name="palette"
        label="Palette"
        note="optional"
        value={value("palette")}
        placeholder="#1f2d3b #c84130"
        mono
      />
      <TextField
        id="background"
        name="background"
        label="Background"
        note="optional"
        value={value("background")}
        placeholder="transparent or #ffffff"
        mono
      />
      <TextField
        id="seed"
        name="seed"
        label="Seed"
        note="optional"
        help="Another number, another drawing."
        value={value("seed")}
        type="number"
        min={0}
        max={seedMax}
      />
      <Switch name="draw_layers" label="Name objects as layers" checked={isOn(values, "draw_layers")} atEnd />
      <Switch
        name="hd"
        label={`More detail (HD, ${creditsOf(svgProducts["svg-generate-hd"].price)})`}
        checked={isOn(values, "hd")}
        atEnd
      />
    </fieldset>
  );
}

interface SliderProps {
  readonly id: string;
  readonly label: string;
  readonly values: Values;
  /** What the places of the slider mean; its last place means no limit. */
  readonly steps?: readonly number[];
  readonly max?: number;
  readonly step?: number;
  readonly fallback?: number;
}

function Slider({ id, label, values, steps, max = steps?.length ?? 1, step = 1, fallback = max }: SliderProps) {
  const value = String(values.get(id) ?? fallback);
  const shown = steps ? String(steps[Number(value)] ?? "All") : value;
  return (
    <Field
      id={id}
      name={id}
      code={id === "colors" || id === "simplify"}
      label={label}
      note={<output for={id}>{shown}</output>}
      control={(tied) => (
        <input
          class="range"
          type="range"
          min={0}
          max={max}
          step={step}
          value={value}
          data-steps={steps?.join(" ")}
          aria-valuetext={shown}
          {...tied}
        />
      )}
    />
  );
}
