import { z } from "zod";

const moment = z.iso.datetime();

/** What the facilitator's document says of GET /payments and GET /payments/{transaction}. */
export const facilitatorRecordShape = z.object({
  state: z.enum(["claimed", "broadcast", "unknown", "settled", "failed"]),
  network: z.string().max(100),
  transaction: z.string().min(1).max(200).nullable(),
  payer: z.string().max(200),
  pay_to: z.string().max(200),
  asset: z.string().max(200),
  amount_atomic: z.string().max(80),
  resource_url: z.string().max(4_000).nullable(),
  for_terms: z.boolean().optional(),
  error_reason: z.string().max(1_000).nullable(),
  created_at: moment,
  expires_at: moment,
  finished_at: moment.nullable(),
  /** Pages link to it. */
  explorer: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .nullable(),
});
export type FacilitatorRecord = z.infer<typeof facilitatorRecordShape>;
