import { z } from "zod";
import type { Call, Connector, Tools } from "./connector.ts";
import { entitySetting, type Ground, groundProblems, networkSetting, standOn } from "./hedera/ground.ts";
import type { Hedera, Order } from "./hedera/hedera.ts";
import { refuseInput } from "./refusal.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const chunkBytes = 1_024;
const chunksMax = 10;

const settings = z.strictObject({
  network: networkSetting,
  topic: entitySetting,
  message: z
    .string()
    .min(1)
    .max(chunkBytes * chunksMax),
  /** Of one message; more than 1,024 is written in several transactions. */
  bytes_max: z
    .int()
    .min(1)
    .max(chunkBytes * chunksMax)
    .default(chunkBytes),
  per_day_max: z.int().min(1).max(100_000).default(1_000),
});

type Settings = z.infer<typeof settings>;

/** A message template written to a topic of the Hedera consensus service, paid for by the marketplace's account. */
export const hcsWrite: Connector<Settings> = {
  id: "hcs-write",
  timeLimitMs: 175_000,
  permanent: true,
  hasEffects: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ message }) => slotsOf({ message }),
  publishProblems: ({ network, topic }, tools, ownerId) =>
    groundProblems(tools, network, ownerId, (ground) => topicProblems(ground, topic)),
  precheck: async (call, tools) => (await plan(call, tools)).order,
  run: async (call, tools) => {
    const { hedera, order } = await plan(call, tools);
    return hedera.execute(call, tools.effects, order);
  },
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, topic, message: template, bytes_max: bytesMax, per_day_max: perDayMax } = call.settings;
  const message = Buffer.from(fillText(template, fillingOf(call)), "utf8");
  if (message.length === 0) throw refuseInput(template, "invalid_value", "The message is empty.");
  if (message.length > bytesMax) {
    const words = `The message has ${message.length} bytes; at most ${bytesMax} can be written.`;
    throw refuseInput(template, "invalid_value", words);
  }
  const { hedera } = await standOn(tools, network, call.agent.ownerId, (ground) => topicProblems(ground, topic));
  const order: Order = {
    kind: "message",
    make: ({ TopicMessageSubmitTransaction, TopicId }) =>
      new TopicMessageSubmitTransaction()
        .setTopicId(TopicId.fromString(topic))
        .setMessage(message)
        .setChunkSize(chunkBytes)
        .setMaxChunks(chunksMax),
    parts: Math.ceil(message.length / chunkBytes),
    asset: `message to ${topic}`,
    amount: 1n,
    dayMax: BigInt(perDayMax),
    promised: { topicId: topic },
  };
  return { hedera, order };
}

/** To an open topic anybody may write. One that only the marketplace may write to must be the creator's own. */
async function topicProblems({ hedera, operator, wallet }: Ground, id: string): Promise<string[]> {
  const topic = await hedera.mirror.topic(id);
  if (!topic || topic.deleted) return [`"settings.topic": there is no topic ${id}.`];
  if (topic.custom_fees?.fixed_fees?.length) return [`"settings.topic": ${id} has custom fees.`];
  if (topic.submit_key === null) return [];
  if (!(await operator.satisfies(topic.submit_key))) {
    return [`"settings.topic": the submit key of ${id} is not the marketplace's (${operator.accountId}).`];
  }
  if (topic.auto_renew_account === wallet) return [];
  const owner = await hedera.mirror.account(wallet);
  const isOwn = topic.admin_key !== null && owner?.key?.key === topic.admin_key.key;
  return isOwn
    ? []
    : [
        `"settings.topic": ${id} is not the creator's: its admin key is not that of ${wallet}, which does not renew it.`,
      ];
}
