import type { Context } from "./context.ts";
import { discoveryEndpoints } from "./discovery/endpoints.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { paymentEndpoints } from "./payment-endpoints.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import { serviceEndpoints } from "./service-endpoints.ts";

/** Every endpoint of the daemon. `hot` are served before all else. */
export function facilitatorEndpoints(context: Context): { hot: readonly Endpoint[]; others: readonly Endpoint[] } {
  const hot = paymentEndpoints(context);
  const others: readonly Endpoint[] = [
    ...serviceEndpoints(context, () => [...hot, ...others]),
    ...recordEndpoints(context),
    ...discoveryEndpoints(context),
  ];
  return { hot, others };
}
