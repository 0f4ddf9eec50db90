import type { ListedAgent } from "../../agents/list.ts";
import type { Value } from "../../input.ts";
import type { AgentExample } from "../../runs/agent-examples.ts";
import type { Viewer } from "../viewer.ts";
import type { ColouredSnippet } from "./code-tabs.tsx";
import type { Told } from "./result-card.tsx";
import type { ShownAgent } from "./shown-agent.ts";

/** How a run may be paid; a free agent is run without any of them. */
export type PaymentMethod = "credits" | "wallet" | "terminal";
/** What the page on which an agent is tried shows. */
export interface Tried {
  readonly shown: ShownAgent;
  readonly viewer: Viewer | undefined;
  readonly values: Readonly<Record<string, Value>>;
  readonly wrong?: { readonly field: string; readonly problem: string } | undefined;
  readonly told?: Told | undefined;
  readonly method: PaymentMethod;
  /** Names this form's run: however often it is posted, it runs once. */
  readonly requestName: string;
  readonly publicUrl: string;
  /** The beginning of the explorer's addresses for its chain; undefined where it writes to none. */
  readonly explorer: string | undefined;
  /** What it gave its creator, for every visitor to see. */
  readonly examples: readonly AgentExample[];
  /** Others of its category. */
  readonly related: readonly ListedAgent[];
  /** What is shown for a terminal. */
  readonly snippets: readonly ColouredSnippet[];
  /** Where the demo wallet's script is; undefined but in development. */
  readonly demoWallet: string | undefined;
}
