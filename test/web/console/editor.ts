import type { Page, Route } from "playwright-core";
import { type Site, signIn } from "../site.ts";

/** Signs in and begins an agent from the connector's template. */
export async function begin(site: Site, page: Page, connector = "Language model") {
  await signIn(site, page, `maker-${Math.random().toString(36).slice(2, 10)}`);
  await page.goto(`${site.url}/build`);
  await page.getByRole("button", { name: `Start from ${connector}`, exact: true }).press("Enter");
  await page.waitForURL(/\/build\/.+/);
}

export const saved = (page: Page) => page.getByText(/^Saved \d/).waitFor();

export const namesOfFields = (page: Page) =>
  page
    .locator("[data-field-row] input[name$='.name']")
    .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));

/** Drags a row's grip to where another row is; the button of the mouse stays down. */
export async function dragRow(page: Page, from: number, to: number): Promise<void> {
  const middle = async (row: number) =>
    (await page.locator("[data-field-row]").nth(row).locator("[data-grip]").boundingBox())!;
  const [start, end] = [await middle(from), await middle(to)];
  await page.mouse.move(start.x + 5, start.y + 5);
  await page.mouse.down();
  await page.mouse.move(end.x + 5, end.y + (to > from ? 60 : -20), { steps: 5 });
}

/** Holds the editor's next save: it is sent once `asked` has ended, and goes on when it is let through. */
export async function heldSave(page: Page) {
  let letThrough = () => {};
  const through = new Promise<void>((resolve) => (letThrough = resolve));
  const asked = page.waitForRequest((request) => request.method() === "POST");
  const hold = async (route: Route) => {
    await through;
    await route.continue();
  };
  await page.route(/\/build\//, hold, { times: 1 });
  return { asked, letThrough };
}
