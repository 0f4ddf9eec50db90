import { expect, test } from "vitest";
import { checkDefinition } from "../../../marketplace/agents/check.ts";
import { compileContract } from "../../../marketplace/agents/contract.ts";
import { type Definition, definitionSchema } from "../../../marketplace/agents/definition.ts";
import { type ConnectorId, connectorIds, type PublishTools } from "../../../marketplace/connectors/connector.ts";
import type { TemplateChains } from "../../../marketplace/connectors/guide.ts";
import { connectors } from "../../../marketplace/connectors/registry.ts";
import { credits } from "../../../marketplace/credits/amount.ts";

const chains: TemplateChains = {
  hedera: "hedera:testnet",
  operator: "0.0.1005",
  readable: [
    { network: "hedera:testnet", usdc: "0.0.429274" },
    { network: "eip155:84532", usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
  ],
};

const listed = (name: string, cost: bigint) => ({
  usual: name,
  models: new Map([[name, { name, credits: credits(cost), most: 4_000, charactersMax: 40_000 }]]),
});

/** No chain is read here: what a wallet must have first is the connectors' own tests' to ask. */
const tools = {
  outbound: { check: () => {} },
  hedera: undefined,
  modelList: { chat: listed("gpt-4o-mini", 1n), images: listed("gpt-image-1", 25n) },
} as unknown as PublishTools;

/** What a template leaves open, since it is its creator's own. */
const leftOpen: Partial<Record<ConnectorId, string>> = { "hedera-mint": "token", "hcs-write": "topic" };

test.each(connectorIds)("the template of %s can be published but for what its creator brings", async (id) => {
  const { guide } = connectors.get(id)!;
  const open = leftOpen[id];
  if (open) expect(guide.brings?.(chains)).toContain(open);
  // Whom an allowance, a supply key or a submit key names.
  if (guide.brings) expect(guide.brings(chains)).toContain("0.0.1005");
  for (const given of [chains, { ...chains, readable: [] }]) {
    const template = guide.template(given);
    const settings = open ? { ...template.settings, [open]: "0.0.1234" } : template.settings;
    const definition = { ...template, connector: id, settings };
    const checked = await checkDefinition(tools, "acc_test", definition);
    const problems = "problems" in checked ? checked.problems : [];
    // A wallet of the creator's, or the operator's account: not to be had without a chain.
    const own = problems.filter(({ message }) => !/Hedera|hedera:testnet is not available/.test(message));
    expect(own).toEqual([]);
    expect(problems.length === 0 || guide.brings !== undefined).toBe(true);
  }
});

test.each(connectorIds)("the form of %s's template is filled in with what it takes", (id) => {
  const template = { ...connectors.get(id)!.guide.template(chains), connector: id };
  const { fields } = definitionSchema.parse(template) as Definition;
  const input = Object.fromEntries(
    fields.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]])),
  );
  expect(() => compileContract(fields, false).read(input)).not.toThrow();
});

test.each([
  ["x-reward", "amount", "10000000"],
  ["x-reward-credits", "amount", 5],
  ["hedera-transfer", "per_run_max", "100000000"],
] as const)("%s takes %s as a number and as text alike, and says so of anything else", (id, name, kept) => {
  const { settings, guide } = connectors.get(id)!;
  const template = guide.template(chains).settings;
  for (const given of [Number(kept), String(kept)]) {
    expect(settings.parse({ ...template, [name]: given })).toMatchObject({ [name]: kept });
  }
  for (const wrong of [0, -1, 1.5, "0", "1e3", "", null]) {
    const { success, error } = settings.safeParse({ ...template, [name]: wrong });
    expect([success, error?.issues[0]?.message]).toEqual([
      false,
      expect.stringMatching(/^must be a whole number .* text/),
    ]);
  }
});

test("what an agent may spend is told as it is counted: by any 24 hours, whatever the day", () => {
  const daily = [...connectors.values()].flatMap(({ guide }) => guide.settings.per_day_max ?? []);
  expect(daily).toHaveLength(5);
  for (const told of daily) expect(told).toMatch(/in any 24 hours/);
});
