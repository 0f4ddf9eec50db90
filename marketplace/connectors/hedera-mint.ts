import { z } from "zod";
import { type Call, type Connector, ConnectorFailure } from "./connector.ts";
import { entitySetting, type Ground, groundProblems, networkSetting, standOn, unitsSetting } from "./hedera/ground.ts";
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

/** Mints on a token whose supply key is the marketplace's account, into its treasury, which is the creator's wallet. */
export const hederaMint: Connector<Settings> = {
  id: "hedera-mint",
  timeLimitMs: 175_000,
  permanent: true,
  hasEffects: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ amount, metadata }) => slotsOf({ amount, metadata }),
  publishProblems: (settings, tools, ownerId) =>
    groundProblems(tools, settings.network, ownerId, (ground) => tokenProblems(ground, settings)),
  run: async (call, tools) => {
    const { network, token, per_day_max: perDayMax } = call.settings;
    const minted = mintedBy(call);
    const { hedera } = await standOn(tools, network, call.agent.ownerId, (g) => tokenProblems(g, call.settings));
    return hedera.execute(call, tools.effects, {
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
      promised: { tokenId: token, amount: minted.amount.toString() },
    });
  },
};

function mintedBy(call: Call<Settings>): { amount: bigint; metadata?: Buffer[] } {
  const { amount, metadata, per_run_max: perRunMax } = call.settings;
  const filling = fillingOf(call);
  const max = BigInt(perRunMax);
  if (metadata) {
    const filled = metadata.map((template) => Buffer.from(fillText(template, filling), "utf8"));
    const wrong = filled.find(({ length }) => length === 0 || length > metadataBytesMax);
    if (wrong) throw new ConnectorFailure(`The metadata of an NFT must have 1 to ${metadataBytesMax} bytes.`);
    if (BigInt(filled.length) > max) throw new ConnectorFailure(`One run mints at most ${max} NFTs.`);
    return { amount: BigInt(filled.length), metadata: filled };
  }
  const text = fillText(amount ?? "", filling).trim();
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new ConnectorFailure("The amount must be a whole number of base units.");
  if (BigInt(text) > max) throw new ConnectorFailure(`The amount is more than the ${max} base units of one run.`);
  return { amount: BigInt(text) };
}

async function tokenProblems({ hedera, operator, wallet }: Ground, settings: Settings): Promise<string[]> {
  const { token: id, metadata } = settings;
  const token = await hedera.mirror.token(id);
  if (!token || token.deleted) return [`"settings.token": there is no token ${id}.`];
  const isUnique = token.type === "NON_FUNGIBLE_UNIQUE";
  if (isUnique !== (metadata !== undefined)) {
    return [
      `"settings.${isUnique ? "metadata" : "amount"}" is what ${id} is minted by: it is ${isUnique ? "" : "not "}a collection of NFTs.`,
    ];
  }
  if (!(await operator.satisfies(token.supply_key))) {
    return [`"settings.token": the supply key of ${id} is not the marketplace's (${operator.accountId}).`];
  }
  if (token.treasury_account_id !== wallet) {
    return [
      `"settings.token": the treasury of ${id} is ${token.treasury_account_id}, not the creator's wallet ${wallet}.`,
    ];
  }
  if (token.pause_status === "PAUSED") return [`"settings.token": ${id} is paused.`];
  return [];
}
