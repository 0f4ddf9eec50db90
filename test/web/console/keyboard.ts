import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Goes to a control that the Tab key reaches, and presses a key there. */
export async function press(control: Locator, key = "Enter"): Promise<void> {
  await control.focus();
  expect(await control.evaluate((element) => (element as HTMLElement).tabIndex), `${control}`).toBeGreaterThanOrEqual(
    0,
  );
  await control.page().keyboard.press(key);
}

/** Writes into a field what stood there no more. */
export async function type(field: Locator, text: string): Promise<void> {
  await press(field, "Control+a");
  await field.page().keyboard.type(text);
}

export const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
export const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
