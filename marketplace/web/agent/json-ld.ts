import type { AgentDetail } from "../../agents/detail.ts";
import { dollarAmount } from "../../answers/amounts.ts";

/** What search engines read: a piece of software with a price. */
export function agentJsonLd({
  name,
  description,
  page_url: url,
  price_credits: price,
  agent,
  created_at,
  updated_at,
}: AgentDetail): object {
  return {
    "@context": "https://schema.org",
    "@type": "SoftwareApplication",
    name,
    description,
    url,
    applicationCategory: "DeveloperApplication",
    operatingSystem: "Any",
    datePublished: created_at,
    dateModified: updated_at,
    author: { "@type": "Person", name: agent.split("/")[0], url: url.slice(0, url.lastIndexOf("/")) },
    offers: { "@type": "Offer", price: dollarAmount(price), priceCurrency: "USD" },
  };
}
