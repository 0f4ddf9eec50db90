import { AskFailedError, ask, type Made } from "./ask.ts";
import type { Order } from "./bench.ts";
import { digestOf, RequestUnderWay } from "./kept-request.ts";
import { base64Of } from "./picture.ts";
import { pictureIn, type UnderWay } from "./under-way.ts";

/** Has it drawn for the account's credits, at the price shown or not at all. Throws AskFailedError. */
export async function makeWithCredits({ settings, picture }: Order, price: number, account: string): Promise<Made> {
  const requests = new RequestUnderWay(account);
  const asked = { ...settings, ...(picture && { image: await base64Of(picture.blob) }) };
  const of = await digestOf(asked);
  // One that was too large to be kept is known again by its digest.
  const before = requests.find();
  const isAgain = before?.of === of;
  const name = isAgain ? before.name : crypto.randomUUID();
  const body = JSON.stringify({ ...asked, max_credits: price });
  requests.keep({ name, of, body, ...(picture && { fileName: picture.name }) });
  return askByName({ requests, account, name, body, draws: !picture }, isAgain);
}

/** What this tab asked for of the kind, and has no answer to: it comes before anything else is paid for. */
export function requestUnderWay(account: string, draws?: boolean): UnderWay | undefined {
  const requests = new RequestUnderWay(account);
  const kept = requests.find();
  if (!kept?.body) return undefined;
  const { name, body, fileName } = kept;
  const { image, max_credits: _, ...settings } = JSON.parse(body) as { image?: string; max_credits: number };
  const isDrawn = image === undefined;
  if (draws !== undefined && draws !== isDrawn) return undefined;
  const finish = () => askByName({ requests, account, name, body, draws: isDrawn }, true);
  return { draws: isDrawn, settings, picture: pictureIn(image), fileName, finish };
}

interface Asked {
  readonly requests: RequestUnderWay;
  readonly account: string;
  readonly name: string;
  readonly body: string;
  readonly draws: boolean;
}

async function askByName({ requests, account, name, body, draws }: Asked, isAgain: boolean): Promise<Made> {
  try {
    const made = await ask(`/api/account/svg/${draws ? "generate" : "vectorize"}`, body, name, account);
    requests.forget();
    return made;
  } catch (error) {
    if (!(error instanceof AskFailedError)) throw error;
    // A refusal that says nothing of the request before leaves it unknown what became of that one.
    if (error.isLost || (isAgain && error.saysNothingOfBefore)) throw error.asLost();
    requests.forget();
    throw error;
  }
}
