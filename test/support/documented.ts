import type { Context } from "../../facilitator/context.ts";
import { facilitatorEndpoints } from "../../facilitator/endpoints.ts";
import { facilitatorDocument } from "../../facilitator/http/openapi.ts";
import { type Contract, contractOf } from "./contract.ts";
import type { RunningFacilitator } from "./facilitator.ts";

/** The same daemon; every answer must be as its own OpenAPI document says, with no field the document does not know. */
export function documented<F extends RunningFacilitator & { readonly context: Context }>(facilitator: F): F {
  const { hot, others } = facilitatorEndpoints(facilitator.context);
  const contract = knownContract(facilitatorDocument([...hot, ...others]));
  const checked = async (method: string, path: string, asked: ReturnType<RunningFacilitator["get"]>) => {
    const answer = await asked;
    const { status, body } = answer;
    contract.check({ method, path, status, type: "application/json", text: JSON.stringify(body) });
    return answer;
  };
  return {
    ...facilitator,
    verify: (body: unknown) => checked("post", "/verify", facilitator.verify(body)),
    settle: (body: unknown) => checked("post", "/settle", facilitator.settle(body)),
    post: (path: string, body: unknown) => checked("post", path, facilitator.post(path, body)),
    get: (path: string) => checked("get", path, facilitator.get(path)),
  };
}

/** The checks of one document are compiled once for all the daemons of this process that have it. */
function knownContract(document: object): Contract {
  const text = JSON.stringify(document);
  const contract = contracts.get(text) ?? contractOf(document);
  contracts.set(text, contract);
  return contract;
}

const contracts = new Map<string, Contract>();
