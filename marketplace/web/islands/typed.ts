import { keepTyped } from "./dom/typed.ts";

/** Forms of a page that are filled in again as they were left. */
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-typed]")) keepTyped(form);
