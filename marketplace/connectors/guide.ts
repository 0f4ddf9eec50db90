import type { IconName } from "../../shared/page/icons.tsx";
import type { FieldType, Value } from "../input.ts";

/** What a creator reads of a connector before choosing it, and the agent they start from. */
export interface Guide {
  /** Which others it is shown with. */
  readonly kind: ConnectorKind;
  /** What agents on it are shown with. */
  readonly icon: IconName;
  readonly does: string;
  /** What each setting is, by its name; a test holds them to the schema. */
  readonly settings: Readonly<Record<string, string>>;
  /** The part that only the creator can bring, so that no template has it; said before the connector is chosen. */
  readonly brings?: (chains: Pick<TemplateChains, "operator">) => string;
  readonly template: (chains: TemplateChains) => Template;
}

export const connectorKinds = { models: "Models", apis: "APIs", ledgers: "Chains", rewards: "Rewards" } as const;
export type ConnectorKind = keyof typeof connectorKinds;

/** An agent that can be published as it is, except for what its creator has to bring. */
export interface Template {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly price_credits: number;
  readonly fields: readonly TemplateField[];
  readonly accepts_extra_instructions: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
}

interface TemplateField {
  readonly name: string;
  readonly label?: string;
  readonly type: FieldType;
  readonly required?: boolean;
  readonly default?: Value;
  readonly description?: string;
  readonly max_length?: number;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  readonly example?: Value;
}

/** The chains that this service knows, so that a template names none that it cannot read. */
export interface TemplateChains {
  /** The Hedera network that agents act on. */
  readonly hedera: string;
  /** The account that agents act through there; undefined where there is none. */
  readonly operator: string | undefined;
  /** The chains that agents can read, with the dollar token of each where there is one. */
  readonly readable: ReadonlyArray<{ readonly network: string; readonly usdc: string | undefined }>;
}

/** Which chain a run reads, as a field of its own. */
export function networkField({ readable }: TemplateChains): TemplateField {
  const choices = readable.map(({ network }) => network);
  const rules = choices[0] === undefined ? {} : { choices, default: choices[0] };
  return choices.length === 0
    ? { name: "network", label: "Network", type: "string", required: true, example: "hedera:mainnet" }
    : { name: "network", label: "Network", type: "choice", ...rules };
}

/** What a creator grants the account that agents act through. */
export const bringsOf = {
  allowance: ({ operator }: Pick<TemplateChains, "operator">) =>
    `a Hedera wallet that allows ${named(operator)} an amount (an allowance, HIP-336)`,
  token: ({ operator }: Pick<TemplateChains, "operator">) =>
    `a token whose treasury is your wallet and whose supply key is that of ${named(operator)}`,
  topic: ({ operator }: Pick<TemplateChains, "operator">) =>
    `a topic that is open, or yours with the submit key of ${named(operator)}`,
} as const;

const named = (operator: string | undefined) => `this service's account${operator === undefined ? "" : ` ${operator}`}`;

/** Words that several connectors have in common. */
export const settingNotes = {
  format: "what the answer is read as",
  model: "one of the operator's list; the operator's usual one when left out",
  network: "the Hedera network, such as hedera:testnet",
  perRun: "at most so much in one run",
  perDay: "at most so much in any 24 hours",
  baseUnits: "in base units; tinybars of HBAR",
  asset: "hbar, or a token's id",
} as const;
