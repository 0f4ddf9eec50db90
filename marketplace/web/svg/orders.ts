/** The workbench's form as the API's request bodies; what is wrong in it the API's own shapes say. */

import { drawColours } from "../../svg/draw-options.ts";

/** Stops of the slider for colours; the last is no limit. */
export const colourSteps = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256] as const;
/** The most that a drawing from words may have. */
export const drawColourSteps = colourSteps.filter((colours) => colours <= drawColours.max);

export type Values = Pick<FormData, "get">;

/** The field by which the form says what a product cost when it was shown. */
export const priceShown = (product: string) => `max_credits.${product}`;

export function traceOrder(form: Values, image: string): object {
  return {
    image,
    ...given(form, "style", "style"),
    ...given(form, "mode", "mode"),
    ...colours(form, "colors", colourSteps),
    ...number(form, "simplify", "simplify"),
    remove_background: isOn(form, "remove_background"),
    layers: isOn(form, "layers"),
  };
}

export function drawOrder(form: Values): object {
  const palette = text(form, "palette")
    ?.split(/[\s,]+/)
    .filter(Boolean);
  return {
    prompt: text(form, "prompt") ?? "",
    ...given(form, "draw_style", "style"),
    ...given(form, "aspect", "aspect"),
    hd: isOn(form, "hd"),
    layers: isOn(form, "draw_layers"),
    ...colours(form, "draw_colors", drawColourSteps),
    ...(palette && palette.length > 0 && { palette }),
    ...given(form, "background", "background"),
    ...number(form, "seed", "seed"),
  };
}

export function text(form: Values, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim().replaceAll("\r\n", "\n") : undefined;
}

function given(form: Values, name: string, field: string): object {
  const value = text(form, name);
  return value === undefined ? {} : { [field]: value };
}

function number(form: Values, name: string, field: string): object {
  const value = text(form, name);
  return value === undefined ? {} : { [field]: Number(value) };
}

const isOn = (form: Values, name: string) => form.get(name) === "on";

function colours(form: Values, name: string, steps: readonly number[]): object {
  const most = steps[Number(text(form, name) ?? steps.length)];
  return most === undefined ? {} : { colors: most };
}
