import { z } from "zod";
import type { Problem } from "../parse.ts";
import type { Call, Connector, Tools } from "./connector.ts";
import { bringsOf, type Guide, settingNotes } from "./guide.ts";
import type { Hedera, Order } from "./hedera/hedera.ts";
import { inTurn } from "./hedera/in-turn.ts";
import { bytesToKeep } from "./hedera/kept-text.ts";
import { oneOrder } from "./hedera/one-order.ts";
import {
  entitySetting,
  networkSetting,
  type Preconditions,
  preconditionProblems,
  refuseSilence,
  requirePreconditions,
  unitsSetting,
} from "./hedera/preconditions.ts";
import { misconfigured, refuseInput } from "./refusal.ts";
import type { ChainPool } from "./reservations.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const metadataBytesMax = 100;

const settings = z
  .strictObject({
    network: networkSetting,
    token: entitySetting,
    /** Template: how many base units of a fungible token. */
    amount: z.string().min(1).max(200).optional(),
    /** Templates: the metadata of each NFT, at most 100 bytes when filled. */
    metadata: z.array(z.string().min(1).max(400)).min(1).max(10).optional(),
    /** Base units, or NFTs. */
    per_run_max: unitsSetting,
    per_day_max: unitsSetting,
  })
  .refine(({ amount, metadata }) => (amount === undefined) !== (metadata === undefined), {
    path: ["amount"],
    message: "or metadata must be given, and not both",
  });

type Settings = z.infer<typeof settings>;

const guide: Guide = {
  kind: "ledgers",
  icon: "stamp",
  does: "Mints on your token, into its treasury, which is your wallet: an amount, or NFTs with metadata.",
  settings: {
    network: settingNotes.network,
    token: "its id; the operator's account has the supply key",
    amount: "template: base units of a fungible token; or metadata",
    metadata: "templates: one NFT each, up to 100 bytes when filled",
    per_run_max: `${settingNotes.perRun}: base units, or NFTs`,
    per_day_max: `${settingNotes.perDay}: base units, or NFTs`,
  },
  brings: bringsOf.token,
  template: ({ hedera }) => ({
    name: "Attendance badge",
    description: "Mints a badge for a visitor who was there.",
    category: "on-chain",
    tags: ["nft", "badge"],
    price_credits: 30,
    fields: [
      { name: "event", label: "Event", type: "string", required: true, max_length: 30, example: "Open day" },
      { name: "guest", label: "Guest", type: "string", required: true, max_length: 30, example: "Ada" },
    ],
    accepts_extra_instructions: false,
    settings: {
      network: hedera,
      token: "",
      metadata: ["{{event}}: {{guest}} was there"],
      per_run_max: "1",
      per_day_max: "100",
    },
  }),
};

/** Mints on a token whose supply key is the marketplace's account, into its treasury, which is the creator's wallet. */
export const hederaMint: Connector<Settings> = {
  id: "hedera-mint",
  guide,
  settings,
  ...oneOrder<Settings>((call, tools) => inTurn(call, () => plan(call, tools))),
  slots: ({ amount, metadata }) => slotsOf({ amount, metadata }),
  publishProblems: (settings, tools, ownerId) =>
    preconditionProblems(tools, settings.network, ownerId, (preconditions) => tokenProblems(preconditions, settings)),
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, token, per_day_max: perDayMax } = call.settings;
  const minted = mintedBy(call);
  const preconditions = await requirePreconditions(tools, network, call.agent.ownerId, (one) =>
    tokenProblems(one, call.settings),
  );
  const order: Order = {
    kind: "mint",
    make: ({ Long, TokenId, TokenMintTransaction }) => {
      const transaction = new TokenMintTransaction().setTokenId(TokenId.fromString(token));
      return minted.metadata
        ? transaction.setMetadata(minted.metadata)
        : transaction.setAmount(Long.fromString(minted.amount.toString()));
    },
    asset: token,
    amount: minted.amount,
    dayMax: BigInt(perDayMax),
    pools: [await supplyPool(preconditions, token).catch(refuseSilence)],
    fees: preconditions.hedera.feesOf(call.agent),
    promised: { tokenId: token, amount: minted.amount.toString() },
  };
  return { hedera: preconditions.hedera, order };
}

function mintedBy(call: Call<Settings>): { amount: bigint; metadata?: Buffer[] } {
  const { amount, metadata, per_run_max: perRunMax } = call.settings;
  const filling = fillingOf(call);
  const max = BigInt(perRunMax);
  if (metadata) {
    const filled = metadata.map((template) => bytesToKeep(template, filling));
    const wrong = filled.find(({ length }) => length === 0 || length > metadataBytesMax);
    const rule = `The metadata of an NFT must have 1 to ${metadataBytesMax} bytes.`;
    if (wrong) throw refuseInput(metadata[filled.indexOf(wrong)], "invalid_value", rule);
    if (BigInt(filled.length) > max) throw misconfigured(`one run mints at most ${max} NFTs`);
    return { amount: BigInt(filled.length), metadata: filled };
  }
  const text = fillText(amount ?? "", filling).trim();
  if (!/^[1-9]\d{0,18}$/.test(text)) {
    throw refuseInput(amount, "bad_request", "The amount must be a whole number of base units.");
  }
  if (BigInt(text) <= max) return { amount: BigInt(text) };
  throw refuseInput(amount, "invalid_value", `The amount is more than the ${max} base units of one run.`);
}

/** What can still be minted. */
async function supplyPool({ hedera }: Preconditions, id: string): Promise<ChainPool> {
  // First how far the mirror had come, then the figures, which can only be newer.
  const measuredAt = await hedera.mirror.reached();
  const token = await hedera.mirror.token(id);
  const max = token?.supply_type === "FINITE" ? BigInt(token.max_supply) : tokenUnitsMax;
  return { name: `supply ${hedera.network} ${id}`, room: max - BigInt(token?.total_supply ?? max), measuredAt };
}

const tokenUnitsMax = 2n ** 63n - 1n;

async function tokenProblems(
  { hedera, operator, wallet }: Preconditions,
  settings: Settings,
): Promise<readonly Problem[]> {
  const { token: id, metadata, per_run_max: perRunMax, per_day_max: perDayMax } = settings;
  const wrong = (message: string): Problem[] => [{ path: ["token"], message }];
  const token = await hedera.mirror.token(id);
  if (!token || token.deleted) return wrong(`must be a token that is there: there is no token ${id}`);
  const isUnique = token.type === "NON_FUNGIBLE_UNIQUE";
  if (isUnique !== (metadata !== undefined)) {
    const what = `is what ${id} is minted by: it is ${isUnique ? "" : "not "}a collection of NFTs`;
    return [{ path: [isUnique ? "metadata" : "amount"], message: what }];
  }
  if (metadata && [perRunMax, perDayMax].some((max) => metadata.length > BigInt(max))) {
    return [{ path: ["metadata"], message: "must have no more NFTs than per_run_max and per_day_max allow" }];
  }
  if (!(await operator.satisfies(token.supply_key))) {
    return wrong(`must have the marketplace's account ${operator.accountId} as its supply key: ${id} has another`);
  }
  if (token.treasury_account_id !== wallet) {
    return wrong(`must have your wallet ${wallet} as its treasury: that of ${id} is ${token.treasury_account_id}`);
  }
  return token.pause_status === "PAUSED" ? wrong(`is paused: ${id}`) : [];
}
