import type { RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { Config } from "../config.ts";
import { operatorCallsPerMinute } from "../http/calls-per-minute.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { type Operator, readOperator } from "./operators.ts";

/**
 * Lets an operator through who showed a code in the last `confirmedMinutes`. Every other caller gets 404, as for what does not
 * exist; an operator who has still to show one is told so by 403.
 */
export function requireOperator(context: OperatorNeeds): RequestHandler[] {
  return [
    requireSameOrigin(context),
    async (request, response, next) => {
      const session = await context.signIn.sessions.read(request, response);
      const operator = session && (await readOperator(context.db, session));
      if (!operator) throw new ApiError("not_found", "There is nothing there.");
      await admitOperator(context.db, operator);
      if (!operator.confirmedUntil) {
        throw new ApiError("forbidden", "Show first that it is you: POST /api/operator/confirm with a code.");
      }
      response.locals.operator = operator;
      next();
    },
  ];
}

/** Counts one more request of an operator; 429 past the limit. */
export async function admitOperator(db: Queryable, { id }: Operator): Promise<void> {
  await admitOrRefuse(db, `operator:${id}`, operatorCallsPerMinute);
}

/** The operator of a request that `requireOperator` let through. */
export function operatorOf(response: Response): Operator {
  return response.locals.operator as Operator;
}

interface OperatorNeeds {
  readonly config: Pick<Config, "publicUrl">;
  readonly db: Queryable;
  readonly signIn: Pick<SignIn, "sessions">;
}
