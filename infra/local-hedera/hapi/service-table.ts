import type { ServiceDefinition } from "@grpc/grpc-js";

/**
 * The gRPC services of a consensus node, made by hand: bytes in, bytes out, no .proto files. A transaction method takes
 * a `Transaction` and a query method a `Query`; which one is in the bytes, so the method name only decides between the two.
 */
export function serviceTable(): {
  definition: ServiceDefinition;
  methods: { name: string; takes: "transaction" | "query" }[];
}[] {
  return Object.entries(services).map(([service, { transactions, queries }]) => {
    const methods = [
      ...transactions.map((name) => ({ name, takes: "transaction" as const })),
      ...queries.map((name) => ({ name, takes: "query" as const })),
    ];
    const definition = Object.fromEntries(methods.map(({ name }) => [name, method(`/proto.${service}/${name}`)]));
    return { definition, methods };
  });
}

const method = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

const identity = (bytes: Buffer): Buffer => bytes;

const services: Record<string, { transactions: string[]; queries: string[] }> = {
  CryptoService: {
    transactions: [
      "createAccount",
      "updateAccount",
      "cryptoTransfer",
      "cryptoDelete",
      "approveAllowances",
      "deleteAllowances",
    ],
    queries: ["getTransactionReceipts", "getTxRecordByTxID", "cryptoGetBalance", "getAccountInfo", "getAccountRecords"],
  },
  TokenService: {
    transactions: [
      "createToken",
      "updateToken",
      "mintToken",
      "burnToken",
      "deleteToken",
      "wipeTokenAccount",
      "freezeTokenAccount",
      "unfreezeTokenAccount",
      "grantKycToTokenAccount",
      "revokeKycFromTokenAccount",
      "associateTokens",
      "dissociateTokens",
      "updateTokenFeeSchedule",
      "pauseToken",
      "unpauseToken",
      "updateNfts",
      "rejectToken",
      "airdropTokens",
      "cancelAirdrop",
      "claimAirdrop",
    ],
    queries: ["getTokenInfo", "getTokenNftInfo"],
  },
  ConsensusService: {
    transactions: ["createTopic", "updateTopic", "deleteTopic", "submitMessage"],
    queries: ["getTopicInfo"],
  },
  NetworkService: { transactions: [], queries: ["getVersionInfo", "getAccountDetails"] },
  ScheduleService: { transactions: ["createSchedule", "signSchedule", "deleteSchedule"], queries: ["getScheduleInfo"] },
  UtilService: { transactions: ["prng", "atomicBatch"], queries: [] },
  FileService: {
    transactions: ["createFile", "updateFile", "deleteFile", "appendContent"],
    queries: ["getFileContent", "getFileInfo"],
  },
  SmartContractService: {
    transactions: ["createContract", "updateContract", "contractCallMethod", "deleteContract", "callEthereum"],
    queries: ["contractCallLocalMethod", "getContractInfo", "ContractGetBytecode"],
  },
};
