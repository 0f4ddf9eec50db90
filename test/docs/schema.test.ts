import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { schemaOf } from "../../infra/dev/schema.ts";
import { freshDatabase } from "../support/postgres.ts";

test.each(["facilitator", "marketplace"] as const)(
  "schema.sql of the %s is what its migrations make; `npm run schema` writes it anew",
  async (service) => {
    const written = await readFile(new URL(`../../${service}/schema.sql`, import.meta.url), "utf8");
    expect(await schemaOf(await freshDatabase(service))).toBe(written);
  },
);
