import {
  AuthenticationError,
  BadRequestError,
  ForbiddenError,
  GoneError,
  InvalidValueError,
  MarketplaceError,
  NotPaidError,
  OutcomeUnknownError,
  PaymentRefusedError,
  PaymentRequiredError,
  RunFailedError,
} from "../agent-marketplace.ts";
import { UsageError } from "./arguments.ts";
import { NotWrittenError, tell } from "./output.ts";

/** Says what went wrong, whether money moved and how to go on; the exit code for it. */
export function tellFailure(error: unknown): number {
  tell(error instanceof Error ? error.message : String(error));
  if (error instanceof NotWrittenError) return 5;
  if (!(error instanceof MarketplaceError)) return error instanceof UsageError || error instanceof TypeError ? 2 : 1;
  const { charged, idempotencyKey, payment } = error;
  if (error instanceof RunFailedError && error.advice) tell(error.advice);
  const isUsed = error instanceof PaymentRefusedError && error.reason === "already_settled";
  if (charged === false) tell("Nothing was charged.");
  else if (isUsed)
    tell("Its money moved once, and nothing more was charged. The same command again is another purchase.");
  else if (payment && !(error instanceof NotPaidError))
    tell("The payment is kept: the same command again goes on with it, and pays nothing more.");
  else if (error instanceof GoneError) tell("It was charged once.");
  else if (idempotencyKey)
    tell(`Go on with --idempotency-key ${idempotencyKey} and the same command: it is charged once.`);
  return charged === false ? codeOf(error) : 5;
}

function codeOf(error: MarketplaceError): number {
  const isOf = (...kinds: ReadonlyArray<abstract new (...given: never[]) => MarketplaceError>) =>
    kinds.some((kind) => error instanceof kind);
  if (isOf(OutcomeUnknownError)) return 5;
  if (isOf(BadRequestError, InvalidValueError)) return 2;
  if (isOf(NotPaidError, PaymentRequiredError, PaymentRefusedError)) return 3;
  return isOf(AuthenticationError, ForbiddenError) ? 4 : 1;
}
