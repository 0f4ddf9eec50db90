import { Reader } from "@hiero-ledger/proto";
import { RefusalError } from "./refusal.ts";

/**
 * A protobuf reader that refuses what protobufjs lets pass: fields the message does not know (it calls `skipType` exactly
 * for those) and known fields with a foreign wire type. To a node both are TRANSACTION_HAS_UNKNOWN_FIELDS.
 */
export class StrictReader extends (Reader.create(Buffer.alloc(0)).constructor as typeof Reader) {
  /** The tag just read, its value not yet. protobufjs reads tags, lengths and small numbers all by `uint32`. */
  #tag: number | undefined;
  readonly #hasSmallNumbers: boolean;

  /** `hasSmallNumbers`: the message has uint32 fields, so that a length and a number cannot be told apart here. */
  constructor(bytes: Uint8Array, { hasSmallNumbers }: { hasSmallNumbers: boolean }) {
    super(bytes);
    this.#hasSmallNumbers = hasSmallNumbers;
  }

  override uint32(): number {
    if (this.#tag === undefined) {
      this.#tag = super.uint32();
      return this.#tag;
    }
    if (this.#wireType !== varintType || !this.#hasSmallNumbers) this.#expect(lengthDelimitedType);
    this.#tag = undefined;
    return super.uint32();
  }

  override bytes(): Uint8Array {
    this.#expect(lengthDelimitedType);
    return super.bytes();
  }

  override string(): string {
    this.#expect(lengthDelimitedType);
    return super.string();
  }

  override bool(): boolean {
    this.#beginNumber();
    return super.uint32() !== 0;
  }

  override int32(): number {
    this.#beginNumber();
    return super.uint32() | 0;
  }

  override int64(): ReturnType<Reader["int64"]> {
    this.#beginNumber();
    return super.int64();
  }

  override uint64(): ReturnType<Reader["uint64"]> {
    this.#beginNumber();
    return super.uint64();
  }

  override sint64(): ReturnType<Reader["sint64"]> {
    this.#beginNumber();
    return super.sint64();
  }

  override skipType(): never {
    throw new RefusalError("TRANSACTION_HAS_UNKNOWN_FIELDS");
  }

  #beginNumber(): void {
    // Within a packed list there is no tag: the list's own said "length-delimited".
    if (this.#tag !== undefined) this.#expect(varintType);
    this.#tag = undefined;
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) this.skipType();
  }

  get #wireType(): number {
    return this.#tag! & 7;
  }
}

const varintType = 0;
const lengthDelimitedType = 2;
