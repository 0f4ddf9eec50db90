import { expect, test } from "vitest";
import { refusedBy } from "../../marketplace/payments/paid-calls/redemption.ts";

test("a payment that a facilitator refuses is refused with its reason, and with a sentence where it gives none", () => {
  expect(refusedBy({ isValid: false, invalidReason: "invalid_amount", invalidMessage: "Zero." })).toEqual({
    outcome: "refused",
    reason: "invalid_amount",
    message: "Zero.",
  });
  expect(refusedBy({ isValid: false })).toEqual({
    outcome: "refused",
    reason: "invalid",
    message: "The facilitator refused it and gave no reason.",
  });
});
