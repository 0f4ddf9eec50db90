import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";
import type { ChainContext } from "./context.ts";
import type { EntityNumber } from "./hapi/ids.ts";
import { statusCode } from "./hapi/refusal.ts";
import { serviceTable } from "./hapi/service-table.ts";
import type { Consensus } from "./pipeline/consensus.ts";
import { submit } from "./pipeline/ingest.ts";
import { answerQuery } from "./queries.ts";

/** One consensus node: a gRPC server on one loopback port, answering as one node account of the shared chain. */
export async function startNode(
  chain: ChainContext,
  consensus: Consensus,
  node: EntityNumber,
  port: number,
): Promise<NodeServer> {
  const server = new Server({ "grpc.max_receive_message_length": messageBytesMax });
  for (const { definition, methods } of serviceTable()) {
    const handle = { transaction: answerTransaction, query: answerAnyQuery };
    server.addService(
      definition,
      Object.fromEntries(
        methods.map(({ name, takes }) => [
          name,
          (call: Call, reply: Reply) => handle[takes](chain, consensus, node, call.request, late(chain, reply)),
        ]),
      ),
    );
  }
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, actual) =>
      error ? reject(error) : resolve(actual),
    );
  });
  return { port: bound, close: () => server.forceShutdown() };
}

const answerTransaction = (
  chain: ChainContext,
  consensus: Consensus,
  node: EntityNumber,
  bytes: Buffer,
  reply: Reply,
): void => {
  const { faults } = chain;
  if (faults.take("unavailable", node)) reply(unavailableError);
  else {
    const precheck = submit(chain, consensus, bytes, node);
    if (precheck === okCode && faults.take("dropReply", node)) return;
    if (precheck === okCode && faults.take("resetReply", node)) reply(unavailableError);
    else reply(null, precheckAnswers.get(precheck) ?? encodePrecheck(precheck));
  }
};

const answerAnyQuery = (
  chain: ChainContext,
  consensus: Consensus,
  node: EntityNumber,
  bytes: Buffer,
  reply: Reply,
): void => {
  if (chain.faults.take("queryUnavailable", node)) reply(unavailableError);
  else {
    const answer = answerQuery(chain, bytes, node, (payment) => submit(chain, consensus, payment, node));
    if (answer) reply(null, Buffer.from(proto.Response.encode(answer).finish()));
    else reply(unreadableError);
  }
};

const late = ({ levels }: ChainContext, reply: Reply): Reply =>
  levels.delayMs === 0 ? reply : (...answer) => void setTimeout(() => reply(...answer), levels.delayMs);

const encodePrecheck = (nodeTransactionPrecheckCode: number): Buffer =>
  Buffer.from(proto.TransactionResponse.encode({ nodeTransactionPrecheckCode }).finish());

const okCode = statusCode("OK");
const precheckAnswers = new Map([[okCode, encodePrecheck(okCode)]]);
const unavailableError = { code: status.UNAVAILABLE, details: "local-hedera: fault switch" };
const unreadableError = { code: status.INVALID_ARGUMENT, details: "local-hedera: not a query" };
/** Above the chain's own 6,144 bytes, so that an oversized transaction meets the chain's answer and not gRPC's. */
const messageBytesMax = 256 * 1_024;

type Call = ServerUnaryCall<Buffer, Buffer>;
type Reply = sendUnaryData<Buffer>;

export type NodeServer = { port: number; close: () => void };
