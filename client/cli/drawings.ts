import type {
  AgentMarketplace,
  ChargingOptions,
  ImageSource,
  PayOptions,
  VectorGraphics,
} from "../agent-marketplace.ts";
import { numberOf, type OptionName, type Options, UsageError } from "./arguments.ts";
import { fileIn } from "./inputs.ts";

/** What each way to draw can be told, and each way to pay for it. */
export function drawingTakes([verb]: readonly string[], options: Options): readonly OptionName[] {
  const own: readonly OptionName[] =
    verb === "vectorize"
      ? ["style", "mode", "colors", "simplify", "layers", "remove-background"]
      : ["style", "aspect", "background", "colors", "seed", "hd", "layers"];
  const paying: readonly OptionName[] =
    options["max-usd"] === undefined ? ["max-credits", "idempotency-key"] : ["max-usd", "network", "purchase"];
  return ["out", ...own, ...paying];
}

/** `svg vectorize <file>` and `svg generate <prompt…>`, paid with credits, or with `--max-usd` by a wallet. */
export async function draw(
  market: AgentMarketplace,
  [verb, ...words]: readonly string[],
  options: Options,
  call: ChargingOptions & PayOptions,
): Promise<VectorGraphics> {
  const { "max-usd": max_usd, network } = options;
  const max_credits = numberOf("max-credits", options);
  const onCredits = max_credits === undefined ? {} : { max_credits };
  if (verb === "vectorize") {
    const request = { image: await imageGiven(words), ...tracing(options) } as Parameters<
      typeof market.svg.vectorize
    >[0];
    if (max_usd === undefined) return market.svg.vectorize({ ...request, ...onCredits }, call);
    return market.pay.vectorize({ ...request, max_usd, network }, call);
  }
  if (verb !== "generate") throw new UsageError("svg vectorize <file>, or svg generate <prompt…>");
  if (words.length === 0) throw new UsageError("Say what is to be drawn: svg generate <prompt…>");
  const request = { prompt: words.join(" "), ...drawing(options) } as Parameters<typeof market.svg.generate>[0];
  if (max_usd === undefined) return market.svg.generate({ ...request, ...onCredits }, call);
  return market.pay.generate({ ...request, max_usd, network } as Parameters<typeof market.pay.generate>[0], call);
}

async function imageGiven(words: readonly string[]): Promise<ImageSource> {
  const [given] = words;
  if (given === undefined || words.length > 1) throw new UsageError("Name one picture: svg vectorize <file or URL>");
  return /^(https?:|data:)/.test(given) ? given : fileIn(given);
}

function tracing(options: Options) {
  const { style, mode, layers, "remove-background": remove_background } = options;
  const numbers = { colors: numberOf("colors", options), simplify: numberOf("simplify", options) };
  return given({ style, mode, layers, remove_background, ...numbers });
}

function drawing(options: Options) {
  const { style, aspect, background, hd, layers } = options;
  return given({
    ...{ style, aspect, background, hd, layers },
    colors: numberOf("colors", options),
    seed: numberOf("seed", options),
  });
}

/** The settings that the person gave; the service refuses those it does not know. */
function given(settings: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
