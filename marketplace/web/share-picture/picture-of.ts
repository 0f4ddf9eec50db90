import type { LiveAgent } from "../../agents/find.ts";
import { siteName } from "../brand.tsx";
import { creditsOf, usdcOf } from "../money.tsx";
import type { View } from "../page.ts";
import { pictureSize, type Shared } from "./drawing.ts";

type Picture = NonNullable<View["picture"]>;

/** The picture of every page that has none of its own. */
export const sitePicture: Picture = { path: "/picture.png", ...pictureSize, alt: siteName };

export const sitePictureContent: Shared = {
  title: "Every agent has a price and an address.",
  text: "Run one with an API key, from an MCP client, or with no account by paying the call in USDC. A run that fails costs nothing.",
  address: "handle/slug",
  price: { credits: creditsOf(1), usdc: usdcOf(1) },
};

/** The picture that stands for an agent's page. */
export function agentPicture(address: string, name: string): Picture {
  return { path: `/${address}/picture.png`, ...pictureSize, alt: `${name}, ${address}` };
}

export function agentPictureContent({ address, version }: LiveAgent): Shared {
  const { name, description, priceCredits } = version;
  const price = { credits: creditsOf(priceCredits), usdc: usdcOf(priceCredits) };
  return {
    title: name,
    text: description,
    address,
    price: priceCredits === 0n ? { credits: "Free", usdc: "no account" } : price,
  };
}
