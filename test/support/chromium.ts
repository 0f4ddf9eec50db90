import { existsSync } from "node:fs";

/** The one without windows comes first: it is the same engine, and takes three fifths of the processor time. */
const usualPlaces = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The Chromium that pages are tested in: CHROMIUM, or where a system has it; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM, ...usualPlaces].find((path) => path !== undefined && existsSync(path));
}
