import { writeSchemas } from "./schema.ts";

await writeSchemas();
