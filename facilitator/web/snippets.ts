import type { Language } from "../../shared/page/highlight.tsx";

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly language: Language | undefined;
  readonly code: string;
  /** What shows that they work: a test that runs them against this service, a run by hand, or their package's documentation alone. */
  readonly proof: "test" | "hand" | "none";
}

/** The stock packages, pointed at this service. */
export function snippets(at: At): readonly Snippet[] {
  return [
    { id: "express", title: "Express", language: "typescript", proof: "test", code: middleware("@x402/express", at) },
    { id: "hono", title: "Hono", language: "typescript", proof: "test", code: middleware("@x402/hono", at) },
    { id: "next", title: "Next", language: "typescript", proof: "hand", code: nextProxy(at) },
    { id: "fastapi", title: "FastAPI", language: "python", proof: "none", code: fastApi(at) },
    { id: "go", title: "Go, gin", language: undefined, proof: "none", code: goGin(at) },
  ];
}

interface At {
  readonly origin: string;
  readonly network: string;
}

const middleware = (
  packageName: string,
  { origin, network }: At,
) => `import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddlewareFromConfig } from "${packageName}";

const facilitator = new HTTPFacilitatorClient({ url: "${origin}" });
app.use(paymentMiddlewareFromConfig({
  "GET /weather": { accepts: { scheme: "exact", network: "${network}", payTo: "0x…", price: "$0.01" } },
}, facilitator, [{ network: "${network}", server: new ExactEvmScheme() }]));`;

const nextProxy = ({
  origin,
  network,
}: At) => `import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { registerExactEvmScheme } from "@x402/evm/exact/server";
import { paymentProxy } from "@x402/next";

const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: "${origin}" }));
registerExactEvmScheme(server, { networks: ["${network}"] });
export const proxy = paymentProxy({
  "/weather": { accepts: [{ scheme: "exact", network: "${network}", payTo: "0x…", price: "$0.01" }] },
}, server);`;

const fastApi = ({
  origin,
  network,
}: At) => `from x402.http import FacilitatorConfig, HTTPFacilitatorClient, PaymentOption
from x402.http.middleware.fastapi import PaymentMiddlewareASGI
from x402.http.types import RouteConfig
from x402.mechanisms.evm.exact import ExactEvmServerScheme
from x402.server import x402ResourceServer

server = x402ResourceServer(HTTPFacilitatorClient(FacilitatorConfig(url="${origin}")))
server.register("${network}", ExactEvmServerScheme())
app.add_middleware(PaymentMiddlewareASGI, server=server, routes={
    "GET /weather": RouteConfig(accepts=[PaymentOption(
        scheme="exact", price="$0.01", network="${network}", pay_to="0x…")]),
})`;

const goGin = ({ origin, network }: At) => `r.Use(ginmw.X402Payment(ginmw.Config{
	Routes: x402http.RoutesConfig{"GET /weather": {Accepts: x402http.PaymentOptions{
		{Scheme: "exact", Price: "$0.01", Network: "${network}", PayTo: "0x…"}}}},
	Facilitator: x402http.NewHTTPFacilitatorClient(&x402http.FacilitatorConfig{URL: "${origin}"}),
	Schemes:     []ginmw.SchemeConfig{{Network: "${network}", Server: evm.NewExactEvmScheme()}},
}))`;
