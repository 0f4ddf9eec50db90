import { type AnyAgentNeeds, describeTool, runTool } from "./any-agent-tools.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { leanSearchTool, type SearchNeeds, searchTool } from "./search-tool.ts";
import { generateTool, type SvgToolNeeds, vectorizeTool } from "./svg-tools.ts";

/** The service's own tools. Agents' names hold no underscore, so none of them can be called like one of these. */
export function builtInTools(needs: SearchNeeds & SvgToolNeeds & AnyAgentNeeds): readonly BuiltInTool[] {
  return [
    generateTool(needs),
    vectorizeTool(needs),
    searchTool(needs),
    leanSearchTool(needs),
    describeTool(needs),
    runTool(needs),
  ];
}
