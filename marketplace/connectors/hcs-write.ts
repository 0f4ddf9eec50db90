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
  requirePreconditions,
} from "./hedera/preconditions.ts";
import { refuseInput } from "./refusal.ts";
import { fillingOf, slotsOf } from "./template.ts";

const chunkBytes = 1_024;
const chunksMax = 10;

const settings = z.strictObject({
  network: networkSetting,
  topic: entitySetting,
  message: z
    .string()
    .min(1)
    .max(chunkBytes * chunksMax),
  /** Bytes of one message; more than 1,024 are written in several transactions. */
  bytes_max: z
    .int()
    .min(1)
    .max(chunkBytes * chunksMax)
    .default(chunkBytes),
  per_day_max: z.int().min(1).max(100_000).default(1_000),
});

type Settings = z.infer<typeof settings>;

const guide: Guide = {
  kind: "ledgers",
  icon: "pen",
  does: "Writes a message to a topic of the Hedera consensus service. It stays there for good.",
  settings: {
    network: settingNotes.network,
    topic: "its id",
    message: "template",
    bytes_max: "of one message; more than 1,024 is written in several transactions",
    per_day_max: "messages in any 24 hours at most",
  },
  brings: bringsOf.topic,
  template: ({ hedera }) => ({
    name: "Notarise a text",
    description: "Writes a text to a public ledger, so that all can see that it was there at that time.",
    category: "on-chain",
    tags: ["notary", "timestamp"],
    price_credits: 10,
    fields: [
      {
        name: "text",
        label: "Text",
        type: "text",
        required: true,
        max_length: 300,
        description: "Everybody can read it, for good.",
        example: "Delivered today: 3 boxes.",
      },
    ],
    accepts_extra_instructions: false,
    settings: { network: hedera, topic: "", message: "{{text}}", bytes_max: 1_024, per_day_max: 100 },
  }),
};

/** A message template written to a topic of the Hedera consensus service, paid for by the marketplace's account. */
export const hcsWrite: Connector<Settings> = {
  id: "hcs-write",
  guide,
  settings,
  ...oneOrder<Settings>((call, tools) => inTurn(call, () => plan(call, tools))),
  slots: ({ message }) => slotsOf({ message }),
  publishProblems: ({ network, topic }, tools, ownerId) =>
    preconditionProblems(tools, network, ownerId, (preconditions) => topicProblems(preconditions, topic)),
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, topic, message: template, bytes_max: bytesMax, per_day_max: perDayMax } = call.settings;
  const message = bytesToKeep(template, fillingOf(call));
  if (message.length === 0) throw refuseInput(template, "invalid_value", "The message is empty.");
  if (message.length > bytesMax) {
    const words = `The message has ${message.length} bytes; at most ${bytesMax} can be written.`;
    throw refuseInput(template, "invalid_value", words);
  }
  const { hedera } = await requirePreconditions(tools, network, call.agent.ownerId, (preconditions) =>
    topicProblems(preconditions, topic),
  );
  const parts = Math.ceil(message.length / chunkBytes);
  const order: Order = {
    kind: "message",
    make: ({ TopicMessageSubmitTransaction, TopicId }) =>
      new TopicMessageSubmitTransaction()
        .setTopicId(TopicId.fromString(topic))
        .setMessage(message)
        .setChunkSize(chunkBytes)
        .setMaxChunks(chunksMax),
    parts,
    fees: hedera.feesOf(call.agent, parts),
    asset: `message to ${topic}`,
    amount: 1n,
    dayMax: BigInt(perDayMax),
    promised: { topicId: topic },
  };
  return { hedera, order };
}

/** Every account may write to an open topic. One that only the marketplace may write to must be the creator's own. */
async function topicProblems({ hedera, operator, wallet }: Preconditions, id: string): Promise<readonly Problem[]> {
  const wrong = (message: string): Problem[] => [{ path: ["topic"], message }];
  const topic = await hedera.mirror.topic(id);
  if (!topic || topic.deleted) return wrong(`must be a topic that is there: there is no topic ${id}`);
  if (topic.custom_fees?.fixed_fees?.length) return wrong(`must be a topic without custom fees: ${id} has some`);
  if (topic.submit_key === null) return [];
  if (!(await operator.satisfies(topic.submit_key))) {
    return wrong(
      `must be open, or have the marketplace's account ${operator.accountId} as its submit key: ${id} has another`,
    );
  }
  if (topic.auto_renew_account === wallet) return [];
  const owner = await hedera.mirror.account(wallet);
  const isOwn = topic.admin_key !== null && owner?.key?.key === topic.admin_key.key;
  return isOwn
    ? []
    : wrong(`must be yours: the admin key of ${id} is not that of ${wallet}, which does not renew it either`);
}
