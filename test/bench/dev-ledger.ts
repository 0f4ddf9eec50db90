import { type ChildProcess, spawn } from "node:child_process";
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client, credentials } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";
import { accountId, parseEntityText, toInt64, tokenId, toTimestamp } from "../../infra/dev-ledger/hapi/ids.ts";

/**
 * How many token payments a second the dev ledger takes: each is one submission and receipt queries until the status
 * is known. The ledger runs in its own process, on one core; the payments are signed beforehand.
 *
 *   npx tsx test/bench/dev-ledger.ts [payments] [in parallel]
 */
const bench = async (payments: number, parallel: number): Promise<void> => {
  const { child, ready } = await startLedger();
  const client = new Client(Object.keys(ready.nodes)[0]!, credentials.createInsecure());
  const signed = Array.from({ length: payments }, (_, index) => signPayment(ready, index));
  const cpuBefore = cpuSeconds(child.pid!);
  const startedAt = performance.now();
  let next = 0;
  let polls = 0;
  const pay = async (): Promise<void> => {
    for (let payment = signed[next++]; payment; payment = signed[next++]) {
      const queries = await payAndWait(client, payment);
      polls += queries;
    }
  };
  await Promise.all(Array.from({ length: parallel }, pay));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = cpuSeconds(child.pid!) - cpuBefore;
  console.log(`${payments} payments, ${parallel} in parallel, ${(polls / payments).toFixed(2)} receipt queries each`);
  console.log(`${Math.round(payments / seconds)} payments/s by the clock (this driver has a core of its own)`);
  console.log(
    `${Math.round(payments / cpu)} payments per second of the ledger's CPU; its memory ${rssMegabytes(child.pid!)} MB`,
  );
  client.close();
  child.kill("SIGTERM");
};

const payAndWait = async (client: Client, { bytes, receiptQuery }: Payment): Promise<number> => {
  const answer = proto.TransactionResponse.decode(await call(client, "cryptoTransfer", bytes));
  if (answer.nodeTransactionPrecheckCode !== 0) throw new Error(`precheck ${answer.nodeTransactionPrecheckCode}`);
  for (let polls = 1; ; polls++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    const response = proto.Response.decode(await call(client, "getTransactionReceipts", receiptQuery));
    const status = response.transactionGetReceipt?.receipt?.status;
    if (status === proto.ResponseCodeEnum.SUCCESS) return polls;
    if (status !== proto.ResponseCodeEnum.UNKNOWN) throw new Error(`receipt ${status}`);
  }
};

const call = (client: Client, method: string, request: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(`/proto.CryptoService/${method}`, identity, identity, request, (error, response) =>
      error ? reject(error) : resolve(response!),
    );
  });

const signPayment = ({ accounts, usdc }: Ready, index: number): Payment => {
  const [payer, from, to] = [accounts.feePayer!, accounts.buyer!, accounts.creator!].map(
    ({ accountId: id }) => parseEntityText(id)!,
  );
  const validStart = BigInt(Date.now() - 5_000) * 1_000_000n + BigInt(index);
  const transactionID = { accountID: accountId(payer!), transactionValidStart: toTimestamp(validStart) };
  const bodyBytes = proto.TransactionBody.encode({
    transactionID,
    nodeAccountID: accountId(3),
    transactionFee: toInt64(100_000_000),
    transactionValidDuration: { seconds: toInt64(180) },
    cryptoTransfer: {
      tokenTransfers: [
        {
          token: tokenId(parseEntityText(usdc)!),
          transfers: [
            { accountID: accountId(from!), amount: toInt64(-1) },
            { accountID: accountId(to!), amount: toInt64(1) },
          ],
        },
      ],
    },
  }).finish();
  const sigPair = [accounts.buyer!, accounts.feePayer!].map(({ publicKey, privateKey }) => ({
    pubKeyPrefix: Buffer.from(publicKey, "hex"),
    ed25519: sign(null, bodyBytes, keyObject(privateKey)),
  }));
  const signedTransactionBytes = proto.SignedTransaction.encode({ bodyBytes, sigMap: { sigPair } }).finish();
  return {
    bytes: Buffer.from(proto.Transaction.encode({ signedTransactionBytes }).finish()),
    receiptQuery: Buffer.from(proto.Query.encode({ transactionGetReceipt: { transactionID } }).finish()),
  };
};

const keys = new Map<string, KeyObject>();
const keyObject = (der: string): KeyObject => {
  const key = keys.get(der) ?? createPrivateKey({ key: Buffer.from(der, "hex"), format: "der", type: "pkcs8" });
  keys.set(der, key);
  return key;
};

const startLedger = async (): Promise<{ child: ChildProcess; ready: Ready }> => {
  const env = { ...process.env, DEV_LEDGER_NODE_PORTS: "0", DEV_LEDGER_MIRROR_PORT: "0", DEV_LEDGER_ADMIN_PORT: "0" };
  const child = spawn(process.execPath, ["--import", "tsx", "infra/dev-ledger/main.ts"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith(READY)) return { child, ready: JSON.parse(line.slice(READY.length)) as Ready };
  }
  throw new Error("the ledger ended before it was ready");
};

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

const rssMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024);

const identity = (bytes: Buffer): Buffer => bytes;
const READY = "dev-ledger ready ";

type Ready = { nodes: Record<string, string>; usdc: string; accounts: Record<string, Account> };
type Account = { accountId: string; privateKey: string; publicKey: string };
type Payment = { bytes: Buffer; receiptQuery: Buffer };

const [payments, parallel] = process.argv.slice(2).map(Number);
await bench(payments || 10_000, parallel || 64);
