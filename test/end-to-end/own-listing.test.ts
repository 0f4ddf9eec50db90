import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { expect } from "vitest";
import { freePort } from "../../infra/free-port.ts";
import { logo, picture, png } from "../marketplace/tracer/pictures.ts";
import { paidTest } from "../support/fixtures.ts";

const port = await freePort();
const publicUrl = `http://127.0.0.1:${port}`;
const test = paidTest({
  env: { MARKETPLACE_PORT: String(port), MARKETPLACE_PUBLIC_URL: publicUrl },
  facilitatorEnv: { FACILITATOR_DISCOVERY_LOCALHOST: "true" },
});

test("what a stock client pays for here is listed by its facilitator, which asks the marketplace itself", async ({
  paid,
}) => {
  const listed = async (url: string) => {
    const answer = await fetch(`${paid.facilitator.url}/discovery/resources`);
    const { items } = (await answer.json()) as { items: Array<{ resource: string }> };
    return items.find(({ resource }) => resource === url);
  };
  const image = (await png(picture(40, 30, logo))).toString("base64");
  const client = new ExactEvmScheme(await paid.setting.fundedBuyer());
  const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: "eip155:*", client }] });
  for (const [path, body, description] of [
    [`/api/agent/${paid.address}`, { text: "hi" }, "Says what it is told."],
    ["/api/x402/svg-vectorize", { image }, expect.stringContaining("SVG")],
  ] as const) {
    const headers = { "content-type": "application/json" };
    const answer = await pay(publicUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    await expect.poll(() => listed(publicUrl + path)).toMatchObject({ description });
  }
});
