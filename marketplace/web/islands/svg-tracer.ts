// The tracer as a page's worker: started by svg-workbench.tsx, which no page loads it with.
import "../../tracer/preview-worker.ts";
