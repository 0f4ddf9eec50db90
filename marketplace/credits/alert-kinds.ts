import { z } from "zod";

/**
 * What an account's holder may be told by e-mail: each kind has a mark, a column of `credit_alerts`, above or below which it is told,
 * and null for never. send-alerts.ts sends them. The API, its example and the form are made from here.
 */
export const alertKinds = {
  balance_below: {
    mark: z.int().min(1).max(1_000_000_000),
    says: "Told each time the spendable credits fall below it; null for never.",
    usual: 500,
    form: { by: "by_balance", when: "When the balance falls below", label: "Balance", unit: "credits" },
  },
  cap_percent: {
    mark: z.int().min(1).max(100),
    says: "Told of each key that has spent so much of its cap, once a day or once a month, as the cap is; null for never.",
    usual: 80,
    form: {
      by: "by_cap",
      when: "When a key has used a share of its cap",
      label: "Share of the cap",
      unit: "% of the cap",
    },
  },
} as const satisfies Readonly<Record<string, Kind>>;

interface Kind {
  readonly mark: z.ZodInt;
  readonly says: string;
  /** What the form proposes. */
  readonly usual: number;
  /** `by`: the switch that turns it on, which says `when`; the mark has a `label` and a `unit`. */
  readonly form: { readonly by: string; readonly when: string; readonly label: string; readonly unit: string };
}

export type AlertKind = keyof typeof alertKinds;
export const alertNames = Object.keys(alertKinds) as readonly AlertKind[];

/** By kind, where the holder wants to be told; null for never. */
export type Marks = Readonly<Record<AlertKind, number | null>>;

/** Something for each kind. */
export function ofEachAlert<T>(make: (kind: AlertKind) => T): Readonly<Record<AlertKind, T>> {
  return Object.fromEntries(alertNames.map((kind) => [kind, make(kind)])) as Record<AlertKind, T>;
}
