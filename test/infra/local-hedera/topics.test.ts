import { PrivateKey, TopicCreateTransaction, TopicInfoQuery, TopicMessageSubmitTransaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { accountId, parseEntityText, topicId } from "../../../infra/local-hedera/hapi/ids.ts";
import { ledgerTest } from "../../support/fixtures.ts";
import { connect, paymentBody, signedPayment } from "./raw.ts";
import { eventually, type OpenLedger } from "./sdk.ts";

const test = ledgerTest();

const newTopic = async (on: OpenLedger, submitKey?: PrivateKey): Promise<string> => {
  const create = new TopicCreateTransaction().setTopicMemo("log");
  if (submitKey) create.setSubmitKey(submitKey.publicKey);
  return (await on.run(create)).topicId!.toString();
};

describe("a topic", () => {
  test("numbers its messages and shows them on the mirror", async ({ on }) => {
    const topic = await newTopic(on);
    for (const [index, text] of ["first", "second"].entries()) {
      const receipt = await on.run(new TopicMessageSubmitTransaction().setTopicId(topic).setMessage(text));
      expect(receipt.topicSequenceNumber!.toNumber()).toBe(index + 1);
      expect(receipt.topicRunningHash).toHaveLength(48);
    }
    expect(await on.mirror(`topics/${topic}`)).toMatchObject({ topic_id: topic, memo: "log", submit_key: null });
    expect(await on.mirror(`topics/${topic}/messages/2`)).toMatchObject({
      message: Buffer.from("second").toString("base64"),
      payer_account_id: "0.0.1005",
      running_hash_version: 3,
      sequence_number: 2,
      topic_id: topic,
    });
  });

  test("with a submit key takes messages signed with it only", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const topic = await newTopic(on, key);
    const submit = () => new TopicMessageSubmitTransaction().setTopicId(topic).setMessage("x");
    expect(await on.statusWith(submit())).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(submit(), key)).toBe("SUCCESS");
  });

  test("takes 2,500 bytes as three chunks of one message", async ({ on }) => {
    const topic = await newTopic(on);
    await on.run(new TopicMessageSubmitTransaction().setTopicId(topic).setMessage("before"));
    const text = "0123456789".repeat(250);
    const answers = await new TopicMessageSubmitTransaction()
      .setTopicId(topic)
      .setMessage(text)
      .executeAll(on.operated);
    const last = await on.receiptOf(answers.at(-1)!.transactionId);
    expect(last.topicSequenceNumber!.toNumber()).toBe(4);
    const { messages } = await on.mirror(`topics/${topic}/messages?sequencenumber=gt:1`);
    const [first] = messages;
    expect(messages.map(({ chunk_info }: { chunk_info: object }) => chunk_info)).toEqual(
      [1, 2, 3].map((number) => ({ ...first.chunk_info, number, total: 3 })),
    );
    expect(first.chunk_info.initial_transaction_id.account_id).toBe("0.0.1005");
    const whole = messages
      .map(({ message }: { message: string }) => Buffer.from(message, "base64").toString())
      .join("");
    expect(whole).toBe(text);
  });

  test("is paged forwards and backwards", async ({ on }) => {
    const topic = await newTopic(on);
    for (const text of ["a", "b", "c"])
      await on.run(new TopicMessageSubmitTransaction().setTopicId(topic).setMessage(text));
    const sequences = ({ messages }: { messages: { sequence_number: number }[] }) =>
      messages.map((message) => message.sequence_number);
    const page = await on.mirror(`topics/${topic}/messages?limit=2`);
    expect(sequences(page)).toEqual([1, 2]);
    expect(sequences(await on.mirror(page.links.next.replace("/api/v1/", "")))).toEqual([3]);
    expect(sequences(await on.mirror(`topics/${topic}/messages?order=desc&limit=1`))).toEqual([3]);
    expect(await on.mirror(`topics/${topic}/messages/9`)).toMatchObject({ httpStatus: 404 });
  });

  test.for([
    ["more than 1,024 bytes at once", "MESSAGE_SIZE_TOO_LARGE", { message: Buffer.alloc(1_025) }],
    ["chunk 0 of 2", "INVALID_CHUNK_NUMBER", { chunkInfo: { number: 0, total: 2 } }],
    ["chunk 3 of 2", "INVALID_CHUNK_NUMBER", { chunkInfo: { number: 3, total: 2 } }],
    [
      "a chunk of somebody else's message",
      "INVALID_CHUNK_TRANSACTION_ID",
      { chunkInfo: { number: 2, total: 2, initialTransactionID: { accountID: accountId(1_003) } } },
    ],
    [
      "a first chunk that is not the message's own id",
      "INVALID_CHUNK_TRANSACTION_ID",
      { chunkInfo: { number: 1, total: 2, initialTransactionID: { accountID: accountId(1_001) } } },
    ],
  ] as const)("takes no %s: %s", async ([_, status, fields], { on }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const topicID = topicId(parseEntityText(await newTopic(on))!);
    const body = {
      ...paymentBody(on.ledger),
      cryptoTransfer: null,
      consensusSubmitMessage: { topicID, message: Buffer.from("x"), ...fields },
    };
    expect(await node.submit(signedPayment(on.ledger, body))).toBe("OK");
    await eventually(() => node.receipt(body.transactionID!)).toBe(status);
    node.close();
  });

  test("that does not exist takes nothing", async ({ on }) => {
    const submit = new TopicMessageSubmitTransaction().setTopicId("0.0.999999").setMessage("x");
    expect(await on.statusOf(submit)).toBe("INVALID_TOPIC_ID");
  });

  test("tells its state over gRPC", async ({ on }) => {
    const topic = await newTopic(on);
    await on.run(new TopicMessageSubmitTransaction().setTopicId(topic).setMessage("x"));
    const info = await new TopicInfoQuery().setTopicId(topic).execute(on.operated);
    expect([info.topicMemo, info.sequenceNumber.toNumber()]).toEqual(["log", 1]);
  });
});
