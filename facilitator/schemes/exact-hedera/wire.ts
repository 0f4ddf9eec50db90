/**
 * A protobuf reader for bytes that are about to be signed: it refuses what other readers skip, merge or overwrite, so
 * that every reader of the same bytes reads the same thing. Unknown fields, a field given twice, numbers that are
 * not in their shortest form and wrong wire types all throw MalformedError.
 */
export function message<Fields extends Record<string, Field<unknown>>>(
  name: string,
  fields: Fields,
  unknownField: MalformedError["kind"] = "shape",
): Reader<Decoded<Fields>> {
  const blank = Object.fromEntries(Object.keys(fields).map((key) => [key, undefined]));
  const repeatedKeys = Object.keys(fields).filter((key) => fields[key]?.repeated);
  const slots = new Map(
    Object.entries(fields).flatMap(([key, field]) => field.numbers.map((n) => [n, { key, field }])),
  );

  return (cursor, end) => {
    const result: Record<string, unknown> = { ...blank };
    for (const key of repeatedKeys) result[key] = [];
    while (cursor.at < end) {
      const tag = readTag(cursor, end);
      const slot = slots.get(Math.floor(tag / 8));
      if (slot === undefined)
        throw new MalformedError(unknownField, `${name} has an unknown field ${Math.floor(tag / 8)}`);
      const { key, field } = slot;
      const value = field.read(cursor, end, tag % 8, name);
      if (field.repeated) (result[key] as unknown[]).push(value);
      else if (result[key] !== undefined) throw new MalformedError("shape", `${name} has ${key} twice`);
      else result[key] = value;
    }
    return result as Decoded<Fields>;
  };
}

/** Reads all of `bytes` as one message. Throws MalformedError. Byte fields of the result share memory with `bytes`. */
export function decode<T>(reader: Reader<T>, bytes: Buffer): T {
  return reader({ bytes, at: 0 }, bytes.length);
}

/** Bytes that are no protobuf at all, or protobuf of another shape than expected. */
export class MalformedError extends Error {
  override readonly name = "MalformedError";
  readonly kind: "undecodable" | "shape";

  constructor(kind: "undecodable" | "shape", detail: string) {
    super(detail);
    this.kind = kind;
  }
}

export type Reader<T> = (cursor: Cursor, end: number) => T;

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

export interface Field<T> {
  readonly numbers: readonly number[];
  readonly repeated: boolean;
  readonly read: (cursor: Cursor, end: number, wireType: number, message: string) => T;
}

export type Decoded<Fields extends Record<string, Field<unknown>>> = {
  readonly [Key in keyof Fields]: Fields[Key] extends Repeated<infer T>
    ? readonly T[]
    : Fields[Key] extends Field<infer T>
      ? T | undefined
      : never;
};

export type Repeated<T> = Field<T> & { readonly repeated: true };

export function repeated<T>(field: Field<T>): Repeated<T> {
  return { ...field, repeated: true };
}

/** int64 or int32. */
export function int(number: number) {
  return varintField(number, (value) => BigInt.asIntN(64, value));
}

/** uint64 or uint32. */
export function uint(number: number) {
  return varintField(number, (value) => value);
}

/** sint64: zigzag. */
export function sint(number: number) {
  return varintField(number, (value) => (value >> 1n) ^ -(value & 1n));
}

export function bool(number: number) {
  return varintField(number, (value) => {
    if (value > 1n) throw new MalformedError("undecodable", `field ${number} is neither true nor false`);
    return value === 1n;
  });
}

export function bytes(number: number) {
  return lengthField(number, ({ bytes, at }, end): Buffer => bytes.subarray(at, end));
}

export function sub<T>(number: number, reader: Reader<T>) {
  return lengthField(number, reader);
}

/** Notes that one of the fields is there, and reads past it. */
export function present(...numbers: readonly number[]): Field<true> {
  return {
    numbers,
    repeated: false,
    read: (cursor, end, wireType) => {
      skip(cursor, end, wireType);
      return true;
    },
  };
}

function varintField<T>(number: number, convert: (value: bigint) => T): Field<T> {
  return {
    numbers: [number],
    repeated: false,
    read: (cursor, end, wireType, name) => {
      expectWireType(wireType, 0, name, number);
      return convert(readVarint(cursor, end));
    },
  };
}

function lengthField<T>(number: number, read: Reader<T>): Field<T> {
  return {
    numbers: [number],
    repeated: false,
    read: (cursor, end, wireType, name) => {
      expectWireType(wireType, 2, name, number);
      const fieldEnd = readLength(cursor, end);
      const value = read(cursor, fieldEnd);
      cursor.at = fieldEnd;
      return value;
    },
  };
}

function expectWireType(given: number, expected: number, name: string, number: number): void {
  if (given !== expected) throw new MalformedError("undecodable", `field ${number} of ${name} has wire type ${given}`);
}

function readTag(cursor: Cursor, end: number): number {
  const tag = readSmall(cursor, end);
  if (tag > 0xffffffff || tag < 8) throw new MalformedError("undecodable", `${tag} is not a field tag`);
  return tag;
}

function readLength(cursor: Cursor, end: number): number {
  const length = readSmall(cursor, end);
  if (length > end - cursor.at) throw new MalformedError("undecodable", "a field ends after its message");
  return cursor.at + length;
}

/** A varint of at most five bytes. */
function readSmall(cursor: Cursor, end: number): number {
  const first = cursor.bytes[cursor.at] ?? 0;
  if (first < 0x80 && cursor.at < end) {
    cursor.at += 1;
    return first;
  }
  const value = readVarint(cursor, end);
  if (value > 0xffffffffn) throw new MalformedError("undecodable", "a tag or length is too large");
  return Number(value);
}

function readVarint(cursor: Cursor, end: number): bigint {
  const { bytes } = cursor;
  const start = cursor.at;
  let low = 0;
  let high = 0n;
  for (let index = 0; index < 10; index += 1) {
    if (cursor.at >= end) throw new MalformedError("undecodable", "a number ends after its message");
    const byte = bytes[cursor.at] as number;
    cursor.at += 1;
    const bits = byte & 0x7f;
    // Seven groups of seven bits are exact in a double; what follows needs a bigint.
    if (index < 7) low += bits * 2 ** (7 * index);
    else high |= BigInt(bits) << BigInt(7 * index);
    if (byte >= 0x80) continue;
    if (byte === 0 && cursor.at - start > 1)
      throw new MalformedError("undecodable", "a number is longer than it need be");
    if (index === 9 && byte > 1) break;
    return high === 0n ? BigInt(low) : high | BigInt(low);
  }
  throw new MalformedError("undecodable", "a number has more than 64 bits");
}

function skip(cursor: Cursor, end: number, wireType: number): void {
  if (wireType === 0) readVarint(cursor, end);
  else if (wireType === 2) cursor.at = readLength(cursor, end);
  else if ((wireType === 1 || wireType === 5) && cursor.at + (wireType === 1 ? 8 : 4) <= end) {
    cursor.at += wireType === 1 ? 8 : 4;
  } else throw new MalformedError("undecodable", `wire type ${wireType} is not readable here`);
}

/** Where the first field `number` stands at the top level of a message, tag included. */
export function fieldSpan(bytes: Buffer, number: number): { start: number; end: number } | undefined {
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const start = cursor.at;
    const tag = readTag(cursor, bytes.length);
    skip(cursor, bytes.length, tag % 8);
    if (Math.floor(tag / 8) === number) return { start, end: cursor.at };
  }
  return undefined;
}

/** One length-delimited field; its parts are joined. */
export function writeField(number: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([writeVarint(number * 8 + 2), writeVarint(length), ...parts]);
}

function writeVarint(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) groups.push((rest % 0x80) + 0x80);
  return Buffer.from([...groups, rest]);
}
