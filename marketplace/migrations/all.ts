import type { Migration } from "../../shared/postgres.ts";

/** Every step of the marketplace's schema, in order. A step that has shipped never changes. */
export const migrations: readonly Migration[] = [];
