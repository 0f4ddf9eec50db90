import type { proto } from "@hiero-ledger/proto";

/** protobufjs' 64-bit value, as the proto package types it. Named here so that nothing imports `long`. */
export type Int64 = NonNullable<proto.ITransactionBody["transactionFee"]>;

/** Shard and realm are always 0 here, so an entity is known by its number alone. */
export type EntityNumber = number;

export function toBigint(value: Int64 | null | undefined): bigint {
  if (value === null || value === undefined) return 0n;
  const high = BigInt(value.unsigned ? value.high >>> 0 : value.high);
  return (high << 32n) | BigInt(value.low >>> 0);
}

/** protobufjs only looks at low and high when it writes. */
export function toInt64(value: bigint | number): Int64 {
  const bits = BigInt(value);
  return { low: Number(BigInt.asIntN(32, bits)), high: Number(bits >> 32n), unsigned: bits >= 0n } as Int64;
}

/** The number of a 64-bit id, or undefined when it is negative or beyond what a real chain gives out. */
function toEntityNumber(value: Int64 | null | undefined): EntityNumber | undefined {
  const number = Number(toBigint(value));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

const isZero = (value: Int64 | null | undefined): boolean => toBigint(value) === 0n;

/** The account number of a plain `0.0.n` id; undefined for an alias, another shard or realm, or no id at all. */
export function accountNumber(id: proto.IAccountID | null | undefined): EntityNumber | undefined {
  return id && !id.alias?.length && isZero(id.shardNum) && isZero(id.realmNum)
    ? toEntityNumber(id.accountNum)
    : undefined;
}

export function tokenNumber(id: proto.ITokenID | null | undefined): EntityNumber | undefined {
  return id && isZero(id.shardNum) && isZero(id.realmNum) ? toEntityNumber(id.tokenNum) : undefined;
}

export function topicNumber(id: proto.ITopicID | null | undefined): EntityNumber | undefined {
  return id && isZero(id.shardNum) && isZero(id.realmNum) ? toEntityNumber(id.topicNum) : undefined;
}

export function accountId(number: EntityNumber): proto.IAccountID {
  return {
    shardNum: zeroNumber,
    realmNum: zeroNumber,
    accountNum: toInt64(number),
  };
}

export function tokenId(number: EntityNumber): proto.ITokenID {
  return {
    shardNum: zeroNumber,
    realmNum: zeroNumber,
    tokenNum: toInt64(number),
  };
}

export function topicId(number: EntityNumber): proto.ITopicID {
  return {
    shardNum: zeroNumber,
    realmNum: zeroNumber,
    topicNum: toInt64(number),
  };
}

export function entityText(number: EntityNumber): string {
  return `0.0.${number}`;
}

/** Reads `0.0.n` or `n`; undefined for anything else. */
export function parseEntityText(text: string): EntityNumber | undefined {
  const number = Number(/^(?:0\.0\.)?([1-9]\d{0,15})$/.exec(text)?.[1]);
  return Number.isSafeInteger(number) ? number : undefined;
}

export function toNanos(timestamp: proto.ITimestamp | null | undefined): bigint {
  return toBigint(timestamp?.seconds) * nanosPerSecond + BigInt(timestamp?.nanos ?? 0);
}

export function toTimestamp(nanos: bigint): proto.ITimestamp {
  return {
    seconds: toInt64(nanos / nanosPerSecond),
    nanos: Number(nanos % nanosPerSecond),
  };
}

/** `seconds.nnnnnnnnn`, as the mirror prints every timestamp. */
export function timestampText(nanos: bigint): string {
  return `${nanos / nanosPerSecond}.${(nanos % nanosPerSecond).toString().padStart(9, "0")}`;
}

/** `payer@seconds.nnnnnnnnn` without shard and realm: the key under which a transaction is kept. */
export function transactionKey(payer: EntityNumber, validStart: bigint): string {
  return `${payer}@${timestampText(validStart)}`;
}

/** The transactionKey of a protobuf transaction id, or undefined when the id names no plain account. */
export function transactionKeyOf(id: proto.ITransactionID | null | undefined): string | undefined {
  const payer = accountNumber(id?.accountID);
  return payer === undefined ? undefined : transactionKey(payer, toNanos(id?.transactionValidStart));
}

export const nanosPerSecond = 1_000_000_000n;
export const nanosPerMillisecond = 1_000_000n;
const zeroNumber = toInt64(0);
