import type { components, operations } from "./openapi.ts";

/** What the service takes and answers, as its OpenAPI document says. */
type Operation = keyof operations;
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

export type BodyOf<Id extends Operation> = operations[Id] extends {
  requestBody: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

export type QueryOf<Id extends Operation> = operations[Id] extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

export type AnswerOf<Id extends Operation, Status extends 200 | 201 = 200> = operations[Id] extends {
  responses: Record<Status, { content: { "application/json": infer Answer } }>;
}
  ? Answer
  : never;

export type Agent = Schema<"Agent">;
export type AgentDetail = AnswerOf<"getAgent">;
export type AgentPage = AnswerOf<"listAgents">;
export type ListQuery = Omit<QueryOf<"listAgents">, "cursor">;
export type Balance = AnswerOf<"getBalance">;
export type RunRequest = BodyOf<"runAgent">;
export type Output = Schema<"Output">;
export type Run = Schema<"Run">;
export type RunDetail = AnswerOf<"getRun">;
export type RunPage = AnswerOf<"listRuns">;
export type VectorGraphics = Schema<"VectorGraphics">;
export type NewKey = AnswerOf<"createApiKey", 201>;
export type PaymentProgress = AnswerOf<"getPaymentProgress">;

/** A run that succeeded; what failed is thrown. */
export interface RunResult extends Omit<Schema<"RunResult">, "success" | "error" | "output"> {
  readonly success: true;
  readonly output: Output;
}
