import { expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { notesInWords } from "../../../marketplace/tracer/notes.ts";
import type { TraceOptions } from "../../../marketplace/tracer/options.ts";
import { vectorizeJob } from "../../../marketplace/tracer/pool/job.ts";
import { landscape, logo, noise, picture, png } from "./pictures.ts";

async function notesOf(image: Raster, options: TraceOptions) {
  const outcome = await vectorizeJob({ bytes: await png(image), options, files: [] });
  if (!("done" in outcome)) throw new Error(outcome.message);
  const { background, same_as, advice } = outcome.done;
  return { background, same_as, advice };
}

const flatArt = picture(200, 150, `<g transform="scale(.5)">${logo}</g>`);
const ofFlatArt = notesOf(flatArt, {});

test("a background that is removed is named by its colour, and where there is none that is said", async () => {
  expect(await notesOf(flatArt, { removeBackground: true })).toMatchObject({ background: "#fff" });
  const none = await notesOf(picture(300, 200, landscape), { removeBackground: true });
  expect(none).toMatchObject({ background: "none found" });
  expect(notesInWords({ background: none.background! })).toContain("none was removed");
  expect((await ofFlatArt).background).toBeUndefined();
});

test("a style that gives the same drawing as auto says so, and one that gives another does not", async () => {
  expect(await notesOf(flatArt, { style: "logo" })).toMatchObject({ same_as: "auto" });
  expect((await notesOf(picture(300, 200, landscape), { style: "logo" })).same_as).toBeUndefined();
  expect((await ofFlatArt).same_as).toBeUndefined();
});

test("what vector shapes do no justice comes with advice, unless less was asked for", async () => {
  const grain = noise(120, 90);
  expect((await notesOf(grain, {})).advice).toContain("bitmap");
  expect((await notesOf(grain, { colors: 4 })).advice).toBeUndefined();
  expect((await ofFlatArt).advice).toBeUndefined();
});
