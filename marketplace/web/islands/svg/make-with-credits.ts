import { AskFailedError, ask, type Made } from "./ask.ts";
import type { Order } from "./bench.ts";
import { digestOf, findRequest, forgetRequest, keepRequest } from "./kept-request.ts";
import { base64Of } from "./picture.ts";
import { pictureIn, type UnderWay } from "./under-way.ts";

/** Has it drawn for the account's credits, at the price shown or not at all. Throws AskFailedError. */
export async function makeWithCredits({ settings, picture }: Order, price: number, account: string): Promise<Made> {
  const asked = { ...settings, ...(picture && { image: await base64Of(picture.blob) }) };
  const of = await digestOf(asked);
  // One that was too large to be kept is known again by its digest.
  const before = findRequest(account);
  const isAgain = before?.of === of;
  const name = isAgain ? before.name : crypto.randomUUID();
  const body = JSON.stringify({ ...asked, max_credits: price });
  keepRequest(account, { name, of, body, ...(picture && { fileName: picture.name }) });
  return askByName({ account, name, body, draws: !picture }, isAgain);
}

/** What this tab asked for of the kind, and has no answer to: it comes before anything else is paid for. */
export function requestUnderWay(account: string, draws?: boolean): UnderWay | undefined {
  const kept = findRequest(account);
  if (!kept?.body) return undefined;
  const { name, body, fileName } = kept;
  const { image, max_credits: _, ...settings } = JSON.parse(body) as { image?: string; max_credits: number };
  const isDrawn = image === undefined;
  if (draws !== undefined && draws !== isDrawn) return undefined;
  const finish = () => askByName({ account, name, body, draws: isDrawn }, true);
  return { draws: isDrawn, settings, picture: pictureIn(image), fileName, finish };
}

interface Asked {
  readonly account: string;
  readonly name: string;
  readonly body: string;
  readonly draws: boolean;
}

async function askByName({ account, name, body, draws }: Asked, isAgain: boolean): Promise<Made> {
  try {
    const made = await ask(`/api/account/svg/${draws ? "generate" : "vectorize"}`, body, name, account);
    forgetRequest(account);
    return made;
  } catch (error) {
    if (!(error instanceof AskFailedError)) throw error;
    // A refusal that says nothing of the request before leaves it unknown what became of that one.
    if (error.isLost || (isAgain && error.saysNothingOfBefore)) throw error.asLost();
    forgetRequest(account);
    throw error;
  }
}
