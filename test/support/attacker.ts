import { attacks, type Target } from "./attacks.ts";

/** Runs an attack: its name and its target are the program's arguments. */
const [name = "", target = ""] = process.argv.slice(2);
await attacks[name]?.(JSON.parse(target) as Target);
process.exit(0);
