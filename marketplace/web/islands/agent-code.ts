import { followCode, lastTried, writeIntoCode } from "./agent/code.ts";

/** The programs of an agent's pages carry the input that was last tried. */
followCode();
const [, handle, slug] = location.pathname.split("/");
const tried = lastTried(`${handle}/${slug}`);
if (tried) writeIntoCode(tried);
