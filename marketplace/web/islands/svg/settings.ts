import type { TraceOptions } from "../../../tracer/options.ts";

/** The options of a trace, as the API names them; what is left out is the API's default. */
export interface TraceSettings {
  readonly style?: string;
  readonly mode?: string;
  readonly colors?: number;
  readonly simplify?: number;
  readonly remove_background?: true;
  readonly layers?: true;
}

export function traceSettings(form: HTMLFormElement): TraceSettings {
  const [style, mode, simplify] = ["style", "mode", "simplify"].map((name) => {
    return form.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${name}"]`)?.value;
  });
  const colors = colourLimit(form, "colors");
  return {
    ...(style !== "auto" && style && { style }),
    ...(mode === "cutout" && { mode }),
    ...(colors !== undefined && { colors }),
    ...(Number(simplify) > 0 && { simplify: Number(simplify) }),
    ...(isOn(form, "remove_background") && { remove_background: true as const }),
    ...(isOn(form, "layers") && { layers: true as const }),
  };
}

export function traceOptions({ remove_background, style, mode, ...rest }: TraceSettings): TraceOptions {
  return {
    ...rest,
    ...(style !== undefined && { style: style as NonNullable<TraceOptions["style"]> }),
    ...(mode !== undefined && { mode: mode as NonNullable<TraceOptions["mode"]> }),
    ...(remove_background && { removeBackground: true }),
  };
}

/** What to draw from words, as the API names it. */
export function drawSettings(form: HTMLFormElement): Record<string, unknown> {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const colors = colourLimit(form, "draw_colors");
  const palette = text("palette")
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    prompt: text("prompt"),
    style: text("draw_style"),
    aspect: text("aspect"),
    ...(data.get("hd") === "on" && { hd: true }),
    ...(data.get("draw_layers") === "on" && { layers: true }),
    ...(colors !== undefined && { colors }),
    ...(palette.length > 0 && { palette }),
    ...(text("background") && { background: text("background") }),
    ...(text("seed") && { seed: Number(text("seed")) }),
  };
}

/** In a few words: `colors 16, simplify 0.4`. */
export function inWords(settings: object): string {
  const words = Object.entries(settings).map(([name, value]) => (value === true ? name : `${name} ${value}`));
  return words.length > 0 ? words.join(", ") : "as it is";
}

/** What each slider says beside it. */
export function tellSliders(form: HTMLFormElement): void {
  for (const slider of form.querySelectorAll<HTMLInputElement>("input[type=range].range")) {
    const told = slider.dataset.steps ? String(stepOf(slider) ?? "All") : slider.value;
    slider.setAttribute("aria-valuetext", told);
    const output = form.querySelector<HTMLOutputElement>(`output[for="${slider.id}"]`);
    if (output) output.textContent = told;
  }
}

function colourLimit(form: HTMLFormElement, name: string): number | undefined {
  const slider = form.elements.namedItem(name);
  return slider instanceof HTMLInputElement ? stepOf(slider) : undefined;
}

function isOn(form: HTMLFormElement, name: string): boolean {
  return form.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.checked ?? false;
}

function stepOf({ dataset, value }: HTMLInputElement): number | undefined {
  const step = (dataset.steps ?? "").split(" ")[Number(value)];
  return step ? Number(step) : undefined;
}
