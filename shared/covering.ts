import type { z } from "zod";

/** Lets the compiler refuse a shape that lacks a field of `Answer` or has it of another type. */
export function covering<Answer>() {
  return <S extends z.ZodType>(
    shape: Answer extends DeepReadonly<z.input<S>>
      ? Answer extends object
        ? KeysOf<Answer> extends KeysOf<z.input<S>>
          ? S
          : never
        : never
      : never,
  ): S => shape;
}

type KeysOf<T> = T extends T ? keyof T : never;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
