import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { proto } from "@hiero-ledger/proto";
import { connect, type Parties, paymentBody, signedPayment } from "../infra/local-hedera/raw.ts";

/**
 * How many token payments a second the local Hedera takes: each is one submission and receipt queries until the status
 * is known. The ledger runs in its own process, on one core; the payments are signed beforehand.
 *
 *   npx tsx test/bench/local-hedera.ts [payments] [in parallel]
 */
const bench = async (payments: number, parallel: number): Promise<void> => {
  const { child, ready } = await startLedger();
  const node = connect(Object.keys(ready.nodes)[0]!);
  const signed = Array.from({ length: payments }, (): Payment => {
    const body = paymentBody(ready);
    return { id: body.transactionID!, bytes: signedPayment(ready, body) };
  });
  const cpuBefore = cpuSeconds(child.pid!);
  const startedAt = performance.now();
  let next = 0;
  let queries = 0;
  const payAll = async (): Promise<void> => {
    for (let payment = signed[next++]; payment; payment = signed[next++]) {
      const asked = await payAndWait(node, payment);
      queries += asked;
    }
  };
  await Promise.all(Array.from({ length: parallel }, payAll));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = cpuSeconds(child.pid!) - cpuBefore;
  console.log(`${payments} payments, ${parallel} in parallel, ${(queries / payments).toFixed(2)} receipt queries each`);
  console.log(`${Math.round(payments / seconds)} payments/s by the clock (this driver needs a core of its own)`);
  console.log(
    `${Math.round(payments / cpu)} payments per second of the ledger's CPU; its memory ${rssMegabytes(child.pid!)} MB`,
  );
  node.close();
  child.kill("SIGTERM");
};

/** Returns how often it had to ask. */
const payAndWait = async (node: ReturnType<typeof connect>, { id, bytes }: Payment): Promise<number> => {
  const precheck = await node.submit(bytes);
  if (precheck !== "OK") throw new Error(`precheck ${precheck}`);
  for (let queries = 1; ; queries++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    const status = await node.receipt(id);
    if (status === "SUCCESS") return queries;
    if (status !== "UNKNOWN") throw new Error(`receipt ${status}`);
  }
};

const startLedger = async (): Promise<{ child: ChildProcess; ready: Ready }> => {
  const env = {
    ...process.env,
    LOCAL_HEDERA_NODE_PORTS: "0",
    LOCAL_HEDERA_MIRROR_PORT: "0",
    LOCAL_HEDERA_ADMIN_PORT: "0",
  };
  const child = spawn(process.execPath, ["--import", "tsx", "infra/local-hedera/main.ts"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith(readyPrefix)) return { child, ready: JSON.parse(line.slice(readyPrefix.length)) as Ready };
  }
  throw new Error("the ledger ended before it was ready");
};

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / clockTicks;
};

const rssMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024);

const readyPrefix = "local-hedera ready ";
/** Linux, per second. */
const clockTicks = 100;

type Ready = Parties & { nodes: Record<string, string> };
type Payment = { id: proto.ITransactionID; bytes: Buffer };

const [payments, parallel] = process.argv.slice(2).map(Number);
await bench(payments || 10_000, parallel || 128);
