import { measureInThisProcess } from "../svg.ts";

/** The bench by itself, so that the heap is as small as a tracing process has it: what else lies on it is marked with every collection. */
await measureInThisProcess();
