import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../../shared/env.ts";
import { ApiError } from "../../shared/errors.ts";
import { type MetricsNeeds, metricsText } from "../metrics.ts";
import type { Endpoint } from "./endpoint.ts";
import { refusals } from "./refusals.ts";

/** For who shows the operator's token; where there is none, there is nothing. */
export function metricsEndpoint(needs: MetricsNeeds, token: Secret | undefined): Endpoint {
  return {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    tag: "Service",
    summary: "Figures for Prometheus.",
    description:
      "Answers in the text format 0.0.4, with the operator's token as `Authorization: Bearer`. A database that does not answer " +
      "leaves its own figures out.",
    access: "unlimited",
    answers: {
      200: {
        content: ["text/plain"],
        example: 'marketplace_answers_total{operation="runAgent",status="200"} 1\n',
      },
      ...refusals({ 401: "The operator's token is required.", 404: "There are no figures here." }),
    },
    handler: async (request, response) => {
      if (token === undefined) throw new ApiError("not_found", "There are no figures here.");
      if (!isSame(request.headers.authorization ?? "", `Bearer ${token.reveal()}`)) {
        throw new ApiError("unauthenticated", "The operator's token is required.", {
          headers: { "www-authenticate": "Bearer" },
        });
      }
      response.type("text/plain; version=0.0.4").send(await metricsText(needs));
    },
  };
}

/** Takes as long however much of it is right. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
